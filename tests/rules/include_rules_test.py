"""Which folder may include which, as a table; and where third-party headers may appear. Dependencies point along the flow only."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# folder -> what its files may include, by prefix. The longest matching folder counts.
MAY_INCLUDE = {
    "base": ["base/"],
    "traces": ["base/", "traces/"],
    "codec": ["base/", "codec/"],
    "policies": ["base/", "policies/"],
    "sim/net": ["base/", "traces/link_trace.h", "traces/loss_trace.h", "sim/net/"],
    "sim/ns3": ["base/", "traces/link_trace.h", "sim/net/", "sim/ns3/"],
    # A session sees contracts only: no concrete network, codec or policy.
    "sim/session": ["base/", "policies/policy.h", "sim/net/network.h", "sim/session/"],
    "sim/scenario": ["base/", "traces/", "codec/geometry/", "codec/profile.h", "codec/decode_times.h", "policies/registry.h",
                     "policies/policy.h", "sim/net/network.h", "sim/net/link_effects.h", "sim/serving/compute/", "sim/session/", "sim/scenario/"],
    "sim/serving/compute": ["base/", "codec/geometry/", "codec/profile.h", "codec/profile_json.h", "sim/serving/compute/"],
    "sim/serving": ["base/", "traces/", "policies/", "sim/net/", "sim/ns3/ns3_tiers.h", "sim/scenario/", "sim/session/", "sim/serving/"],
    "sim/cli": ["base/", "policies/", "sim/", "analysis/", "traces/"],
    "emu/host": ["base/", "emu/host/"],
    "emu/link": ["base/", "traces/link_trace.h", "sim/net/", "emu/host/", "emu/link/"],
    "emu/protocol": ["base/", "codec/bytes.h", "codec/container/", "emu/protocol/"],
    "emu/contents": ["base/", "codec/", "emu/contents/"],
    "emu/clock": ["base/", "emu/host/", "emu/clock/"],
    "emu/client": ["base/", "codec/container/", "codec/kv_cache.h", "codec/geometry/", "policies/", "sim/net/network.h", "sim/scenario/", "sim/serving/",
                   "sim/session/", "emu/host/", "emu/protocol/", "emu/contents/", "emu/clock/", "emu/client/"],
    "emu/server": ["base/", "codec/container/", "emu/protocol/", "emu/contents/", "emu/server/"],
    "emu/run": ["base/", "traces/", "codec/", "policies/", "sim/", "analysis/store/", "emu/"],
    "emu/cli": ["base/", "traces/", "codec/", "policies/", "sim/", "analysis/", "emu/"],
    "analysis": ["base/", "traces/link_trace.h", "sim/session/record.h", "analysis/"],
}
TYPE_DEFINITION = r"^(?:struct|class|enum class)(?: \[\[nodiscard\]\])? (\w+)(?: final)?(?: : [^;{]+)? \{"
FOLDERS = ["base", "traces", "codec", "policies", "sim", "emu", "analysis"]

# header pattern -> the only places where it may stand
ONLY_IN = {
    r"<ns3/|\"ns3/": ["sim/ns3/"],
    r"<yaml-cpp": ["sim/scenario/fields.h", "sim/scenario/yaml_document.h", "sim/scenario/yaml_document.cc"],
    r"<sqlite3\.h>": ["analysis/store/"],
    r"<openssl/": ["base/sha256.cc", "codec/container/", "emu/protocol/"],
    r"<xxhash\.h>": ["emu/protocol/", "emu/contents/"],
    r"<boost/asio": ["emu/"],
    r"<Eigen/": ["codec/model_profile/inverse.cc"],
    r"<CLI/": ["/cli/", "/main.cc", "base/command_line.h"],
    r"<cuda": [".cu", "codec/device/"],
}

# The CUDA backends, and the folders whose programs may link them.
LINKS_CUDA = r"\b(sluice_device|sluice_kernels)\b(?!_)|CUDA::"
MAY_LINK_CUDA = ["codec/device/", "tests/device/"]

# arithmetic on bare units belongs in base/: pattern -> what to use
BANNED = {
    r"/ 1e9\b|\* 1e9\b|/ 1'000'000'000": "Duration's readers and constructors (base/units.h)",
    r"std::(uniform_\w+_distribution|normal_distribution|mt19937|random_device|default_random_engine)": "RandomStream (base/random.h)",
    r"\busing namespace (?!std::chrono_literals|testing)": "a named import",
}


def sources():
    for folder in FOLDERS:
        for suffix in ("*.h", "*.cc", "*.cu"):
            yield from sorted((ROOT / folder).rglob(suffix))


def lines_of(path):
    return enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)


class IncludeRules(unittest.TestCase):
    def test_every_folder_includes_only_what_stands_before_it_in_the_flow(self):
        faults = []
        for path in sources():
            name = path.relative_to(ROOT).as_posix()
            folder = max((f for f in MAY_INCLUDE if name.startswith(f + "/")), key=len, default=None)
            self.assertIsNotNone(folder, f"{name}: no rule for this folder; add one to MAY_INCLUDE")
            for number, line in lines_of(path):
                found = re.match(r'\s*#include "([^"]+)"', line)
                if found and "/" in found[1] and not any(found[1].startswith(p) for p in MAY_INCLUDE[folder]):
                    faults.append(f"{name}:{number}: {folder}/ may not include {found[1]}")
        self.assertEqual(faults, [])

    def test_third_party_headers_stay_behind_their_one_door(self):
        faults = []
        for path in sources():
            name = path.relative_to(ROOT).as_posix()
            for number, line in lines_of(path):
                for pattern, places in ONLY_IN.items():
                    if re.search(r"#include\s*" + f"(?:{pattern})", line) and not any(p in name for p in places):
                        faults.append(f"{name}:{number}: {line.strip()} belongs in {' or '.join(places)}")
        self.assertEqual(faults, [])

    def test_units_and_random_numbers_are_handled_in_base_alone(self):
        faults = []
        for path in sources():
            name = path.relative_to(ROOT).as_posix()
            if name.startswith("base/"):
                continue
            for number, line in lines_of(path):
                code = line.split("//")[0]
                for pattern, instead in BANNED.items():
                    if re.search(pattern, code):
                        faults.append(f"{name}:{number}: {line.strip()}: use {instead}")
        self.assertEqual(faults, [])

    def test_a_type_name_stands_for_one_type(self):
        # Two definitions of one name in one namespace break as soon as a program links both; no compiler says so.
        defined = {}
        for path in sources():
            text = path.read_text(encoding="utf-8")
            if path.suffix != ".h":
                continue
            namespace = re.search(r"^namespace ([\w:]+) \{", text, re.MULTILINE)
            for name in re.findall(TYPE_DEFINITION, text, re.MULTILINE):
                defined.setdefault((namespace and namespace[1], name), []).append(path.relative_to(ROOT).as_posix())
        self.assertEqual({key: places for key, places in defined.items() if len(set(places)) > 1}, {})

    def test_cuda_and_ns3_are_never_linked_into_one_program(self):
        # Their licences do not go together in one binary. Whoever links the CUDA backends stands here.
        faults = []
        for path in sorted(ROOT.glob("*/**/CMakeLists.txt")):
            name = path.relative_to(ROOT).as_posix()
            if name.startswith("build"):
                continue
            for number, line in lines_of(path):
                code = line.split("#")[0]
                if re.search(LINKS_CUDA, code) and not any(name.startswith(p) for p in MAY_LINK_CUDA):
                    faults.append(f"{name}:{number}: {line.strip()}: only {', '.join(MAY_LINK_CUDA)} may")
                if re.search(r"\bsluice_ns3\b", code) and any(name.startswith(p) for p in MAY_LINK_CUDA):
                    faults.append(f"{name}:{number}: {line.strip()}: ns-3 beside CUDA")
        self.assertEqual(faults, [])

    def test_the_rules_can_fail(self):
        self.assertTrue(re.search(LINKS_CUDA, "  LINKS sluice_device)"))
        self.assertFalse(re.search(LINKS_CUDA, "  LINKS sluice_device_on_simt)"))
        self.assertEqual(re.findall(TYPE_DEFINITION, "struct Level {\n  int x;\n};", re.MULTILINE), ["Level"])
        self.assertTrue(re.search(r"#include\s*(?:<yaml-cpp)", "#include <yaml-cpp/yaml.h>"))
        self.assertTrue(re.search(next(iter(BANNED)), "x = ns / 1e9;"))


class FolderRules(unittest.TestCase):
    HEADINGS = ["What", "In", "Out", "How to add one", "Limits and validation", "Decisions"]

    def readmes(self):
        for folder in FOLDERS + ["tests"]:
            yield from (p for p in sorted((ROOT / folder).rglob("README.md")))

    def test_every_top_folder_has_a_readme(self):
        for folder in FOLDERS + ["tests", "scenarios"]:
            self.assertTrue((ROOT / folder / "README.md").is_file(), f"{folder}/README.md is missing")

    def test_every_readme_has_the_six_headings_in_order(self):
        for path in self.readmes():
            headings = [line[3:].strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
            self.assertEqual(headings, self.HEADINGS, path.relative_to(ROOT).as_posix())

    def test_every_scenario_says_question_expectation_and_command(self):
        for path in sorted((ROOT / "scenarios").iterdir()):
            if not path.is_dir():
                continue
            self.assertTrue((path / "scenario.yaml").is_file(), f"{path.name} has no scenario.yaml")
            text = (path / "README.md").read_text(encoding="utf-8")
            for heading in ("## Question", "## Expected outcome", "## Command"):
                self.assertIn(heading, text, f"{path.name}/README.md")

    def test_every_codec_has_a_spec(self):
        for binding in sorted((ROOT / "codec").rglob("binding.h")):
            self.assertTrue((binding.parent / "spec.md").is_file(), f"{binding.parent.name} has no spec.md")


if __name__ == "__main__":
    unittest.main()
