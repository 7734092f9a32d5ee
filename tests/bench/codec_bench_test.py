"""`./sluice codec bench` on tiny input: the shape of its table and numbers that can be; no test measures speed."""

import csv
import io
import json
import math
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SLUICE_BIN", ROOT / "build" / "bin")) / "sluice-codec-bench"
SAMPLE = ROOT / "tests" / "data" / "smollm2-gettysburg.safetensors"
COLUMNS = ["name", "backend", "direction", "cores", "bits_per_element", "elements_per_sec", "fp16_bytes_per_sec", "ceiling_fraction",
           "scalar_ratio", "zstd_ratio", "arithmetic_ratio"]


def bench(*words):
    return subprocess.run([PROGRAM, "--repeat", "1", *map(str, words)], capture_output=True, text=True, check=False, timeout=280)


def backends():
    rows = json.loads(bench("--tokens", 1, "--codec", "raw", "--cores", 1, "--format", "json").stdout)["rows"]
    return sorted({row["backend"] for row in rows if row["backend"]})


class CodecBench(unittest.TestCase):
    def rows(self, *words):
        done = bench(*words, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["source"], "measured")
        return report["rows"]

    def test_two_codecs_on_one_core_have_a_row_per_level_backend_and_direction(self):
        rows = self.rows("--tokens", 2, "--codec", "int4", "--codec", "raw", "--cores", 1)
        found = sorted((row["name"], row["backend"], row["direction"]) for row in rows if row["backend"])
        wanted = sorted((name, backend, direction) for name in ("raw@exact", "int4@group-64", "int4@token") for backend in backends()
                        for direction in ("encode", "decode"))
        self.assertEqual(found, wanted)
        others = {row["name"] for row in rows if not row["backend"]}
        self.assertEqual(others, {"memcpy", "streaming write", "streaming read", "zstd-1", "zstd-3", "arithmetic"})

    def test_every_number_is_finite_and_positive_and_ratios_are_ratios_of_the_rates(self):
        rows = self.rows("--tokens", 2, "--codec", "int8@token", "--cores", 1, "--cores", 2)
        self.assertEqual({row["cores"] for row in rows}, {1, 2})
        rate = {(row["name"], row["backend"], row["direction"], row["cores"]): row["elements_per_sec"] for row in rows}
        for row in rows:
            for column in ("bits_per_element", "elements_per_sec", "fp16_bytes_per_sec"):
                self.assertTrue(math.isfinite(row[column]) and row[column] > 0, row)
            self.assertEqual(row["fp16_bytes_per_sec"], 2 * row["elements_per_sec"])
            if not row["backend"]:
                continue
            name, direction, cores = row["name"], row["direction"], row["cores"]
            ceiling = {"encode": "read", "decode": "write"}[direction]
            for column, other in (("scalar_ratio", (name, "scalar", direction, cores)), ("zstd_ratio", ("zstd-1", "", direction, cores)),
                                  ("arithmetic_ratio", ("arithmetic", "", direction, cores)),
                                  ("ceiling_fraction", (f"streaming {ceiling}", "", ceiling, cores))):
                self.assertAlmostEqual(row[column] * rate[other] / row["elements_per_sec"], 1, places=9)

    def test_bits_are_those_of_the_specifications(self):
        bits = {row["name"]: row["bits_per_element"] for row in self.rows("--tokens", 2, "--codec", "raw", "--codec", "int4", "--cores", 1)}
        self.assertEqual(bits["raw@exact"], 16)
        self.assertEqual(bits["int4@group-64"], 4.25)  # a 16-bit scale per 64 channels
        self.assertEqual(bits["int4@token"], 4 + 16 / 1024)

    def test_a_capture_can_take_the_place_of_the_made_cache(self):
        rows = self.rows("--capture", SAMPLE, "--codec", "cachegen-released@2", "--cores", 1)
        self.assertIn("cachegen-released@2", {row["name"] for row in rows})

    def test_the_text_says_that_it_is_measured_and_where_and_csv_holds_the_columns(self):
        text = bench("--tokens", 2, "--codec", "raw", "--cores", 1).stdout
        self.assertRegex(text.splitlines()[0], r"^measured on .+, \d+ CPUs, load ")
        self.assertIn("2 tokens", text.splitlines()[1])
        table = bench("--tokens", 2, "--codec", "raw", "--cores", 1, "--format", "csv").stdout
        self.assertEqual(list(csv.reader(io.StringIO(table)))[0], COLUMNS)

    def test_what_cannot_be_is_one_line_that_names_the_option(self):
        for words, says in ((["--codec", "int5"], "int5"), (["--backend", "mmx"], "--backend"), (["--level", "none"], "--level"),
                            (["--tokens", "0"], "--tokens"), (["--cores", "0"], "--cores"), (["--capture", "/nowhere"], "/nowhere"),
                            (["--format", "xml"], "xml")):
            done = bench(*words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("error: ") and says in done.stderr, done.stderr)


if __name__ == "__main__":
    unittest.main()
