"""The tables in codec/entropy/ are what their generators write, byte for byte."""
import os
import pathlib
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(os.environ["SLUICE_HOME"]) / "codec" / "entropy"


class CommittedTables(unittest.TestCase):
    def expect_generated(self, name):
        generated = subprocess.run([sys.executable, str(FOLDER / f"generate_{name}.py")],
                                   check=True, capture_output=True).stdout
        self.assertEqual(generated, (FOLDER / f"{name}.inc").read_bytes())

    def test_the_class_tables_are_those_of_their_generator(self):
        self.expect_generated("class_tables")

    def test_the_digit_tables_are_those_of_their_generator(self):
        self.expect_generated("digit_tables")

    def test_the_peaked_tables_are_those_of_their_generator(self):
        self.expect_generated("peaked_tables")


if __name__ == "__main__":
    unittest.main()
