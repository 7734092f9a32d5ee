"""A run that is killed goes on where it stopped; any number of workers gives the same content."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from programs import BIN, ROOT, content_hash, run

CAMPAIGN = ["cachegen-replica", "--replicates", "150"]


class ResumeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        undisturbed = cls.path / "undisturbed.db"
        assert run("sim", *CAMPAIGN, "--store", undisturbed).returncode == 0
        cls.expected = content_hash(undisturbed)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_two_workers_give_the_same_content(self):
        store = self.path / "two.db"
        self.assertEqual(run("sim", *CAMPAIGN, "--store", store, "--jobs", "2").returncode, 0)
        self.assertEqual(content_hash(store), self.expected)

    def test_a_second_run_makes_nothing_again(self):
        store = self.path / "undisturbed.db"
        result = run("sim", *CAMPAIGN, "--store", store)
        self.assertIn("(900 runs, 900 of them held before)", result.stderr)
        self.assertEqual(content_hash(store), self.expected)

    def test_killed_at_any_moment_and_started_again_the_content_is_the_same(self):
        for number, delay_s in enumerate([0.02, 0.05, 0.1, 0.2, 0.3, 0.5]):
            with self.subTest(delay_s):
                store = self.path / f"killed-{number}.db"
                process = subprocess.Popen([BIN / "sluice-sim", *CAMPAIGN, "--store", store, "--jobs", "2"], stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL, env={**os.environ, "SLUICE_HOME": str(ROOT)}, start_new_session=True)
                time.sleep(delay_s)
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                self.assertEqual(run("sim", *CAMPAIGN, "--store", store).returncode, 0)
                self.assertEqual(content_hash(store), self.expected)
                self.assertEqual(run("store", "check", store).returncode, 0)

    def test_killed_ten_times_over_the_content_is_the_same(self):
        store = self.path / "stubborn.db"
        for _ in range(10):
            process = subprocess.Popen([BIN / "sluice-sim", *CAMPAIGN, "--store", store], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "SLUICE_HOME": str(ROOT)}, start_new_session=True)
            time.sleep(0.08)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.assertEqual(run("sim", *CAMPAIGN, "--store", store).returncode, 0)
        self.assertEqual(content_hash(store), self.expected)

    def test_the_command_that_explain_prints_makes_the_row_again(self):
        store, again = self.path / "undisturbed.db", self.path / "again.db"
        text = run("store", "explain", "--store", store, "run:1").stdout
        command = next(line.strip() for line in text.splitlines() if "./sluice sim" in line)
        words = command[command.index("./sluice sim"):].split()
        arguments = words[2:]
        if "--store" in arguments:
            arguments[arguments.index("--store") + 1] = str(again)
        else:
            arguments += ["--store", str(again)]
        result = run("sim", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        merged = self.path / "merged.db"
        # Merging refuses a run whose content differs: equal rows merge, and nothing is added.
        self.assertEqual(run("store", "merge", store, again, merged).returncode, 0)
        self.assertEqual(content_hash(merged), self.expected)


if __name__ == "__main__":
    unittest.main()
