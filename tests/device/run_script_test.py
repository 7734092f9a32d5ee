"""tests/device/run.sh says what it needs before it starts, and so does tune.sh."""

import os
import pathlib
import subprocess
import tempfile
import unittest

FOLDER = pathlib.Path(os.environ["SLUICE_HOME"]) / "tests" / "device"


def run(*arguments, **environment):
    return subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, **environment})


class RunScript(unittest.TestCase):
    def test_a_missing_or_odd_name_is_refused(self):
        self.assertIn("give the device a name", run(FOLDER / "run.sh").stderr)
        self.assertIn("is not made of a-z, 0-9 and -", run(FOLDER / "run.sh", "../h200").stderr)

    def test_everything_that_is_missing_is_said_at_once(self):
        tools = {"bash", "dirname", "sed", "env"}
        with tempfile.TemporaryDirectory() as empty:
            for tool in tools:
                os.symlink(f"/usr/bin/{tool}", pathlib.Path(empty) / tool)
            result = run("/usr/bin/bash", FOLDER / "run.sh", "my-gpu", PATH=empty, CUDA_HOME="/none")
        self.assertEqual(result.returncode, 1)
        for missing in ("cmake", "g++", "python3", "ninja-build", "libfmt-dev", "libgtest-dev"):
            self.assertIn(missing, result.stderr)

    def test_tuning_without_a_build_says_what_to_run(self):
        result = run(FOLDER / "tune.sh", SLUICE_BUILD="/none")
        self.assertEqual(result.returncode, 1)
        self.assertIn("run tests/device/run.sh first", result.stderr)


if __name__ == "__main__":
    unittest.main()
