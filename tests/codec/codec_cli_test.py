"""sluice-codec as a user meets it: files in, files out, one-line errors, nothing half-written."""

import csv
import io
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

HOME = Path(os.environ["SLUICE_HOME"])
PROGRAM = Path(os.environ["SLUICE_BIN"]) / "sluice-codec"
SAMPLE = HOME / "tests/data/smollm2-gettysburg.safetensors"
ELEMENTS = 256 * 11_520


class CodecCommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_codec(self, *words, expect=0):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def error_of(self, *words, code=1):
        lines = self.run_codec(*words, expect=code).stderr.splitlines()
        self.assertTrue(lines[-1].startswith("error: "), lines)
        self.assertEqual(sum(line.startswith("error") for line in lines), 1)
        return lines[-1]

    def encode(self, codec, name="a.kvb"):
        self.run_codec("encode", "--codec", codec, SAMPLE, self.folder / name)
        return self.folder / name

    def test_every_listed_level_goes_there_and_back(self):
        for codec in json.loads(self.run_codec("list", "--format", "json").stdout)["codecs"]:
            for level in codec["levels"]:
                name = f"{codec['codec']}@{level['level']}"
                with self.subTest(name):
                    kvb = self.encode(name)
                    self.run_codec("decode", kvb, self.folder / "back.safetensors")
                    facts = json.loads(self.run_codec("inspect", kvb, "--format", "json").stdout)
                    self.assertEqual((facts["codec"], facts["level"]), (codec["codec"], level["level"]))
                    self.assertEqual((facts["tokens"], facts["elements"]), (256, ELEMENTS))
                    self.assertEqual(facts["bytes"], kvb.stat().st_size)
                    self.assertAlmostEqual(facts["bits_per_element"], 8 * facts["bytes"] / ELEMENTS)
                    parts = facts["header_bytes"] + sum(section["bytes"] for section in facts["sections"])
                    self.assertEqual(parts, facts["bytes"])
                    self.assertLessEqual(facts["side_bytes"], facts["bytes"])

    def test_raw_gives_back_the_tensors_of_the_sample(self):
        self.run_codec("decode", self.encode("raw"), self.folder / "back.safetensors")
        self.assertEqual(tensors(self.folder / "back.safetensors"), {
            name: data for name, data in tensors(SAMPLE).items() if name.endswith((".key", ".value"))})

    def test_decoding_twice_writes_the_same_file(self):
        kvb = self.encode("int4")
        for name in ("one", "two"):
            self.run_codec("decode", kvb, self.folder / name)
        self.assertEqual((self.folder / "one").read_bytes(), (self.folder / "two").read_bytes())

    def test_a_sealed_container_opens_with_its_key_alone(self):
        key, other, kvb, out = (self.folder / name for name in ("a.key", "b.key", "a.kvb", "out"))
        self.run_codec("key", key)
        self.run_codec("key", other)
        self.run_codec("encode", "--codec", "int8", "--seal-key", key, SAMPLE, kvb)
        facts = json.loads(self.run_codec("inspect", kvb, "--format", "json").stdout)
        self.assertEqual((facts["sealed"], facts["tokens"]), (True, 256))
        self.assertIn("sealed", self.run_codec("inspect", kvb).stdout.splitlines()[0])
        for words, part in (
            ((), "is sealed; name the key's file with --seal-key"),
            (("--seal-key", other), "the key does not open it"),
            (("--seal-key", self.folder / "none"), "No such file"),
        ):
            with self.subTest(words):
                self.assertIn(part, self.error_of("decode", *words, kvb, out))
                self.assertFalse(out.exists())
        self.assertIn("name a new file", self.error_of("key", key))
        key.chmod(0o644)
        self.assertIn("mode 0644", self.error_of("decode", "--seal-key", key, kvb, out))
        key.chmod(0o600)
        self.run_codec("decode", "--seal-key", key, kvb, out)
        plain = self.encode("int8", "plain.kvb")
        self.run_codec("decode", plain, self.folder / "plain")
        self.assertEqual(out.read_bytes(), (self.folder / "plain").read_bytes())
        self.assertIn("is not sealed", self.error_of("decode", "--seal-key", key, plain, self.folder / "none"))

    def test_a_reducer_drops_tokens_and_the_file_says_which(self):
        listed = json.loads(self.run_codec("list", "--format", "json").stdout)["reducers"]
        self.assertEqual([reducer["reducer"] for reducer in listed], ["h2o", "snapkv", "window", "prompt-drop"])
        for reducer in listed:
            for level in reducer["levels"]:
                name = f"int8+{reducer['reducer']}@token+{level['level']}"
                with self.subTest(name):
                    kvb = self.encode(name)
                    facts = json.loads(self.run_codec("inspect", kvb, "--format", "json").stdout)
                    self.assertEqual(facts["codec"] + "@" + facts["level"], name)
                    self.assertEqual(facts["elements"], ELEMENTS)
                    self.assertEqual(facts["kept_elements"], ELEMENTS * level["keep_percent"] // 100)
                    self.assertAlmostEqual(facts["bits_per_element"], 8 * facts["bytes"] / ELEMENTS)
                    self.run_codec("decode", kvb, self.folder / "back")
                    back = tensors(self.folder / "back")
                    kept = 256 * level["keep_percent"] // 100
                    self.assertEqual(back["layer.7.positions"][:2], ("I32", [kept]))
                    self.assertEqual(back["layer.7.key"][:2], ("BF16", [3, kept, 64]))
        self.assertIn("of 2949120 elements kept", self.run_codec("inspect", kvb).stdout.splitlines()[0])
        for codec, part in (("int8+hdo", "did you mean `h2o`?"), ("int8@token+50", "has no reducer"),
                            ("int8+h2o@token+51", "has no level `51`")):
            self.assertIn(part, self.error_of("encode", "--codec", codec, SAMPLE, self.folder / "none"))
        fault = self.error_of("encode", "--codec", "int8+h2o", "--ignore-queries", SAMPLE, self.folder / "none")
        self.assertIn("`h2o` cannot choose: the attention that its tokens get is not known", fault)
        self.assertFalse((self.folder / "none").exists())

    def test_a_pair_is_profiled_at_the_levels_that_are_named(self):
        out = self.folder / "p.json"
        self.run_codec("profile", SAMPLE, "--out", out, "--codec", "raw+window", "--codec", "int8+h2o@token+50", "--repeat", 1)
        rows = [(level["codec"], level["level"]) for level in json.loads(out.read_text())["levels"]]
        self.assertEqual(sorted(rows), [("int8+h2o", "token+50"), ("raw+window", "exact+25"), ("raw+window", "exact+50"),
                                        ("raw+window", "exact+75")])

    def test_threads_and_backends_change_no_byte(self):
        one = self.folder / "one.kvb"
        self.run_codec("encode", "--codec", "cachegen-released", "--threads", 1, "--backend", "scalar", SAMPLE, one)
        self.assertEqual(one.read_bytes(), self.encode("cachegen-released").read_bytes())
        self.run_codec("decode", "--threads", 1, "--backend", "scalar", one, self.folder / "a")
        self.run_codec("decode", "--threads", 3, one, self.folder / "b")
        self.assertEqual((self.folder / "a").read_bytes(), (self.folder / "b").read_bytes())
        self.assertIn("no backend `mmx`", self.error_of("decode", "--backend", "mmx", one, self.folder / "c"))

    def test_csv_has_a_row_per_section_and_totals(self):
        rows = list(csv.DictReader(io.StringIO(self.run_codec("inspect", self.encode("int8"), "--format", "csv").stdout)))
        self.assertEqual(rows[-1]["layers"], "all")
        self.assertEqual(int(rows[-1]["bytes"]), sum(int(row["bytes"]) for row in rows[:-1]))

    def test_profile_says_how_it_was_made(self):
        out = self.folder / "p.json"
        self.run_codec("profile", SAMPLE, "--out", out, "--codec", "raw", "--codec", "int8", "--repeat", 1)
        profile = json.loads(out.read_text())
        self.assertEqual(profile["model"], "smollm2-135m")
        self.assertEqual(profile["damage_measure"], "attention-output-error")
        self.assertTrue(profile["command"].startswith("./sluice codec profile "))
        self.assertEqual(len(profile["data_sha256"]), 64)
        self.assertEqual([level["codec"] for level in profile["levels"]], ["raw", "int8", "int8"])

    def test_the_ladder_needs_judged_levels_and_scales_any_profile(self):
        measured = HOME / "codec/profiles/smollm2-135m-measured.json"
        self.assertIn("judged by a model", self.error_of("ladder", "--profile", measured))
        out = self.folder / "scaled.json"
        self.assertIn("--out", self.error_of("ladder", "--profile", measured, "--scale-to", "mistral-7b"))
        self.run_codec("ladder", "--profile", measured, "--scale-to", "mistral-7b", "--out", out)
        scaled, levels = json.loads(out.read_text()), json.loads(measured.read_text())["levels"]
        self.assertEqual(scaled["model"], "mistral-7b")
        self.assertIn("the same bits, nanoseconds and damage per element", scaled["note"])
        self.assertEqual({level["size_source"] for level in scaled["levels"]}, {"scaled"})
        self.assertEqual([level["bits_per_element"] for level in scaled["levels"]], [level["bits_per_element"] for level in levels])

    def test_a_capture_of_values_that_are_no_numbers_is_named_and_not_profiled(self):
        data = SAMPLE.read_bytes()
        header = 8 + int.from_bytes(data[:8], "little")
        tokens = 256 * 4  # token_ids come first; all that follows becomes the bf16 NaN
        broken = self.folder / "nan.safetensors"
        broken.write_bytes(data[:header + tokens] + b"\xff\x7f" * ((len(data) - header - tokens) // 2))
        line = self.error_of("profile", broken, "--codec", "int8", "--out", self.folder / "p.json")
        self.assertIn("nan.safetensors: the damage of int8@", line)
        self.assertFalse((self.folder / "p.json").exists())

    def test_mistakes_are_one_line_with_file_and_fix_and_leave_nothing(self):
        out = self.folder / "out"
        cut = self.folder / "cut.safetensors"
        cut.write_bytes(SAMPLE.read_bytes()[:100_000])
        cut_kvb = self.folder / "cut.kvb"
        cut_kvb.write_bytes(self.encode("int8").read_bytes()[:5000])
        for words, part in (
            (("encode", "--codec", "int9", SAMPLE, out), "did you mean `int8`?"),
            (("encode", "--codec", "int8", "--level", "tokn", SAMPLE, out), "did you mean `token`?"),
            (("encode", "--codec", "int8@token", "--level", "token", SAMPLE, out), "name it once"),
            (("encode", "--codec", "int8", cut, out), f"{cut}: tensor `layer."),
            (("encode", "--codec", "int8", self.folder / "none", out), "no such file"),
            (("decode", SAMPLE, out), "is not a .kvb container"),
            (("decode", cut_kvb, out), f"{cut_kvb}: holds 5000 bytes where its header says"),
            (("inspect", cut_kvb), "cut off"),
            (("inspect", cut_kvb, "--format", "xml"), "xml"),
            (("profile", SAMPLE, "--out", out, "--codec", "zip"), "no codec `zip`"),
        ):
            with self.subTest(words):
                self.assertIn(part, self.error_of(*words))
                self.assertFalse(out.exists())
        for words, part in (
            (("profile", SAMPLE, "--out", out, "--chunk-tokens", "0"), "--chunk-tokens: Value 0 not in range 1 to 10000000"),
            (("encode", "--codec", "raw", "--layers-per-section", "-1", SAMPLE, out), "not in range 1 to 65535"),
            (("encode", SAMPLE), "--codec"),
            ((), "no command is given"),
        ):
            with self.subTest(words):
                self.assertIn(part, self.error_of(*words, code=2))
                self.assertFalse(out.exists())
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["a.kvb", "cut.kvb", "cut.safetensors"])

    def test_every_example_in_the_help_works(self):
        for command in ("list", "encode", "decode", "inspect", "key", "profile"):
            line = next(line for line in self.run_codec(command, "--help").stdout.splitlines() if line.startswith("example: "))
            words = line.removeprefix("example: ./sluice codec ").split()
            words = [word.replace("/tmp", str(self.folder)).replace("tests/data", str(HOME / "tests/data")) for word in words]
            self.run_codec(*words)


def tensors(path):
    """Name to (dtype, shape, bytes), by the few lines that the format needs."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__")
    return {name: (entry["dtype"], entry["shape"], data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]])
            for name, entry in header.items()}


if __name__ == "__main__":
    unittest.main()
