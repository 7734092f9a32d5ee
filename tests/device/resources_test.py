"""The resource report reads what ptxas prints and refuses a decoder that spills."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(os.environ["SLUICE_HOME"]) / "tests" / "device" / "resources.py"


def report(name, spill):
    return (f"ptxas info    : Compiling entry function '{name}' for 'sm_90'\n"
            f"ptxas info    : Function properties for {name}\n"
            f"    {spill} bytes stack frame, {spill} bytes spill stores, 0 bytes spill loads\n"
            f"ptxas info    : Used 64 registers, used 0 barriers, 2048 bytes smem, 400 bytes cmem[0]\n")


class Resources(unittest.TestCase):
    def run_on(self, text):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.cu.o.ptxas").write_text(text)
            return subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)

    def test_a_kernel_becomes_a_line_with_registers_and_occupancy(self):
        # 64 registers x 32 lanes = 2048 a warp; 65536 / 2048 = 32 warps of 64.
        result = self.run_on(report("_Z11decode_rowsv", 0))
        self.assertEqual(result.returncode, 0)
        self.assertIn("| `decode_rows` | 64, 50% | 2048 |", result.stdout)

    def test_a_decoder_that_spills_fails(self):
        result = self.run_on(report("_Z11decode_rowsv", 8))
        self.assertEqual(result.returncode, 1)
        self.assertIn("error: the decoder _Z11decode_rowsv on sm_90 spills registers", result.stderr)

    def test_an_encoder_may(self):
        result = self.run_on(report("_Z11encode_rowsv", 8))
        self.assertEqual(result.returncode, 0)
        self.assertIn("spills 8 B", result.stdout)

    def test_a_folder_without_reports_is_an_error(self):
        result = self.run_on("")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no ptxas report", result.stderr)


if __name__ == "__main__":
    unittest.main()
