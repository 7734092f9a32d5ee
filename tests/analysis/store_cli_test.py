"""The program behind `./sluice store …`, as a user meets it: output, exit codes, one-line errors."""

import csv
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["SLUICE_BIN"])


def run(*arguments):
    return subprocess.run([BIN / "sluice-store", *map(str, arguments)], capture_output=True, text=True, check=False)


class StoreProgram(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.store = cls.path / "runs.db"
        # Two runs of 1000 loads, three chunks each.
        subprocess.run([BIN / "store_write_bench", cls.store, "2000", "3"], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def assert_error(self, result, *parts):
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\Aerror: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_hash_is_64_digits_and_a_merged_copy_has_the_same(self):
        first = run("hash", "--store", self.store)
        self.assertRegex(first.stdout, r"\A[0-9a-f]{64}\n\Z")
        self.assertEqual(run("merge", self.store, self.path / "copy.db").returncode, 0)
        self.assertEqual(run("hash", self.path / "copy.db").stdout, first.stdout)

    def test_check_says_ok_and_fails_with_findings_on_a_broken_row(self):
        self.assertEqual(run("check", "--store", self.store).returncode, 0)
        broken = self.path / "broken.db"
        self.assertEqual(run("merge", self.store, broken).returncode, 0)
        with sqlite3.connect(broken) as database:
            database.execute("UPDATE load SET bytes_moved = 1 WHERE run_id = 2 AND load_index = 5")
        database.close()
        result = run("check", "--store", broken, "--format", "json")
        self.assertEqual(result.returncode, 1)
        self.assertEqual([one["row"] for one in json.loads(result.stdout)], ["load:2/5"])

    def test_list_prints_table_csv_and_json(self):
        self.assertIn("runs done", run("list", "--store", self.store).stdout)
        rows = list(csv.DictReader(run("list", "--store", self.store, "--format", "csv").stdout.splitlines()))
        self.assertEqual([row["num_loads"] for row in rows], ["2000"])
        runs = json.loads(run("list", "--store", self.store, "--runs", "--format", "json").stdout)
        self.assertEqual([one["replicate"] for one in runs], [0, 1])

    def test_explain_ends_with_one_command(self):
        result = run("explain", "--store", self.store, "load:2/7")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout.splitlines()[-1], r"^\./sluice sim bench --policy fixed .*--replicate 1 ")

    def test_export_has_a_line_per_row(self):
        self.assertEqual(run("export", "--store", self.store, "--out", self.path / "csv").returncode, 0)
        counts = [len((self.path / "csv" / name).read_text().splitlines()) for name in ("runs.csv", "loads.csv", "chunks.csv")]
        self.assertEqual(counts, [3, 2001, 6001])

    def test_errors_are_one_line(self):
        text = self.path / "notes.txt"
        text.write_text("hello\n" * 1000)
        self.assert_error(run("hash", "--store", text), "notes.txt", "not a Sluice store")
        self.assert_error(run("hash", "--store", self.path / "typo.db"), "no such file")
        self.assert_error(run("hash"), "--store is required")
        self.assert_error(run("chek", self.store), "did you mean `check`?")
        self.assert_error(run("list", self.store, "--format", "xml"), "--format", "xml")
        self.assert_error(run("explain", "--store", self.store, "row7"), "`row7` is not a row")
        self.assert_error(run("merge", self.store), "files")
        self.assert_error(run("export", "--store", self.store, "--out", text), "notes.txt")

    def test_every_command_has_help_with_an_example(self):
        names = re.findall(r"^  (\w+)  ", run("--help").stdout, re.MULTILINE)
        self.assertEqual(names, ["hash", "check", "merge", "export", "list", "explain"])
        for name in names:
            self.assertIn("example: ./sluice ", run(name, "--help").stdout)


if __name__ == "__main__":
    unittest.main()
