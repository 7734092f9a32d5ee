"""The commands that README.md shows work as they stand, and the programs that it names exist."""

import pathlib
import re
import shlex
import tempfile
import unittest

from programs import BIN, ROOT, run

LAUNCHER = {"sim": ["sim"], "compare": ["compare"], "explain": ["store", "explain"], "store": ["store"], "codec": ["codec"],
            "trace": ["trace"], "policy": ["policy"], "report": ["report"], "emu": ["emu"]}


def commands(text):
    for block in re.findall(r"```\n(.*?)```", text, re.S):
        for line in block.splitlines():
            if line.startswith("./sluice "):
                yield shlex.split(line.split("  #")[0])[1:]


class ReadmeTest(unittest.TestCase):
    def test_every_command_of_the_first_run_works(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "out").mkdir()
            (path / "my.csv").write_text("time_s,rate_mbps\n0,300\n10,1500\n20,900\n", encoding="utf-8")
            done = run("sim", "edge-fluctuating", "--tier", "fluid", "--replicates", "2", "--store", path / "out" / "demo.db")
            self.assertEqual(done.returncode, 0, done.stderr)
            count = 0
            for words in commands(text):
                if words[0] in ("demo", "test"):
                    continue
                program, *first = LAUNCHER[words[0]]
                arguments = [w.replace("/tmp/", f"{folder}/").replace("tests/data", str(ROOT / "tests" / "data")) for w in words[1:]]
                if words[0] == "sim":
                    arguments += ["--replicates", "2"]
                    if "--link-trace" in arguments:
                        arguments += ["--tier", "fluid"]
                if words[0] == "emu":  # in real time
                    arguments += ["--replicates", "1", "--policy", "seed-ratio", "--emulator", "process", "--tier", "fluid"]
                result = run(program, *first, *arguments, cwd=folder)
                self.assertEqual(result.returncode, 0, f"{words}: {result.stderr}")
                count += 1
            self.assertGreaterEqual(count, 6)

    def test_every_file_that_a_readme_links_to_exists(self):
        for readme in ROOT.rglob("README.md"):
            if "build" in readme.relative_to(ROOT).parts[0]:
                continue
            for target in re.findall(r"\]\(([^)#:]+)\)", readme.read_text(encoding="utf-8")):
                self.assertTrue((readme.parent / target).exists(), f"{readme.relative_to(ROOT)}: {target}")


if __name__ == "__main__":
    unittest.main()
