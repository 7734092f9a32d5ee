"""Runs the built programs as a user would: arguments in, exit code, stdout and stderr out."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("SLUICE_BIN", ROOT / "build" / "bin"))


def run(program, *arguments, cwd=None):
    environment = {**os.environ, "SLUICE_HOME": str(ROOT)}
    return subprocess.run([BIN / f"sluice-{program}", *map(str, arguments)], capture_output=True, text=True, cwd=cwd, env=environment, timeout=280)


def run_json(program, *arguments, cwd=None):
    result = run(program, *arguments, "--format", "json", cwd=cwd)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def content_hash(store):
    result = run("store", "hash", store)
    assert result.returncode == 0, result.stderr
    return result.stdout.split()[0]


SMALL = ["edge-fluctuating", "--tier", "fluid", "--replicates", "4"]
