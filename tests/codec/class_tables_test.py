"""codec/entropy/class_tables.inc is what its generator writes, byte for byte."""
import os
import pathlib
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(os.environ["SLUICE_HOME"]) / "codec" / "entropy"


class ClassTables(unittest.TestCase):
    def test_the_committed_tables_are_those_of_the_generator(self):
        generated = subprocess.run([sys.executable, str(FOLDER / "generate_class_tables.py")],
                                   check=True, capture_output=True).stdout
        self.assertEqual(generated, (FOLDER / "class_tables.inc").read_bytes())


if __name__ == "__main__":
    unittest.main()
