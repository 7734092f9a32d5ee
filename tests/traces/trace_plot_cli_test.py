"""Tests of `sluice trace plot`: a picture that stands alone, names that cannot break it, refusals that leave nothing.

Run: SLUICE_BIN=build/bin python3 -m unittest -v tests/traces/trace_plot_cli_test.py
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PROGRAM = Path(os.environ["SLUICE_BIN"]).resolve() / "sluice-trace"
SVG = "{http://www.w3.org/2000/svg}"


class TracePlotTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out.svg"

    def plot(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([PROGRAM, "plot", *words, "--out", self.out], capture_output=True, text=True, timeout=60)

    def drawn(self, *words: str | Path) -> ElementTree.Element:
        done = self.plot(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return ElementTree.parse(self.out).getroot()

    def texts(self, picture: ElementTree.Element, kind: str = "") -> list[str]:
        return [t.text or "" for t in picture.iter(SVG + "text") if kind in ("", t.get("class"))]

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def test_the_picture_says_what_it_shows(self) -> None:
        texts = self.texts(self.drawn(self.write("three.txt", "1 10\n2 20\n3 0\n")))
        self.assertIn("three.txt", texts)
        source = next(t for t in texts if t.startswith("read as two-column"))
        self.assertTrue(source.startswith("read as two-column · Mbit/s · achieved throughput · 3 rows · sha256 "), source)
        self.assertIn("mean 10 Mbit/s · CV 0.82 · p10 0 bit/s · median 10 Mbit/s · p90 20 Mbit/s · highest 20 Mbit/s"
                      " · at zero 33.3 % of the time, longest 1 s", texts)
        self.assertIn("Mbit/s", texts)
        self.assertIn("time, ms", self.texts(self.drawn(self.write("short.txt", "0.1 10\n0.2 20\n"))))

    def test_the_outage_is_shaded_from_its_beginning_to_its_end(self) -> None:
        picture = self.drawn(self.write("four.txt", "1 10\n2 0\n3 0\n4 10\n"))
        (outage,) = [r for r in picture.iter(SVG + "rect") if r.get("class") == "outage"]
        # Of the 560 pixels from 58 on, the second and the third quarter.
        self.assertEqual((outage.get("x"), outage.get("width")), ("198", "280"))

    def test_one_row_per_replicate_and_twelve_at_most(self) -> None:
        picture = self.drawn("constant", "rate=1Gbit/s", "--length", "10s", "--replicates", "2")
        self.assertEqual(self.texts(picture, "title"), ["constant rate=1Gbit/s"] * 2)
        picture = self.drawn("constant", "rate=1Gbit/s", "--length", "10s", "--replicates", "13")
        self.assertEqual(len(self.texts(picture, "title")), 12)
        self.assertTrue(any(t.startswith("12 of 13 traces.") for t in self.texts(picture)))

    def test_files_are_drawn_one_below_the_other(self) -> None:
        a, b = self.write("a.txt", "1 10\n"), self.write("b.down", "1\n2\n")
        self.assertEqual(self.texts(self.drawn(a, b), "title"), ["a.txt", "b.down"])

    def test_a_preset_is_named_by_what_was_asked_for(self) -> None:
        picture = self.drawn("lumos5g-walking", "step=100ms", "--length", "60s", "--seed", "7")
        self.assertEqual(self.texts(picture, "title"), ["lumos5g-walking step=100ms"])
        self.assertTrue(any("made by quantiles, seed 7, replicate 0" in t for t in self.texts(picture)))

    def test_a_file_goes_before_a_generator_of_its_name(self) -> None:
        self.write("constant", "1 10\n")
        done = subprocess.run([PROGRAM, "plot", "constant", "--out", self.out], cwd=self.folder, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("read as two-column", self.out.read_text())

    def test_a_workload_shows_requests_and_lengths(self) -> None:
        rows = "".join(f"{i},{100 + i},10\n" for i in range(100))
        texts = self.texts(self.drawn(self.write("w.csv", "arrived_at,num_prefill_tokens,num_decode_tokens\n" + rows)))
        self.assertTrue(any(t.startswith("read as vidur · 100 requests in 99 s · sha256 ") for t in texts), texts)
        for measure in ("requests per second", "input tokens of a request", "input tokens; dashed: output tokens"):
            self.assertIn(measure, texts)

    def test_links_and_workloads_go_into_two_pictures(self) -> None:
        done = self.plot(self.write("a.txt", "1 10\n"), self.write("w.csv", "arrived_at,num_prefill_tokens,num_decode_tokens\n1,2,3\n"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("w.csv: it is a workload trace, ", done.stderr)
        self.assertFalse(self.out.exists())

    def test_hostile_names_stay_text(self) -> None:
        name = "<script>alert('x')</script>&\"\x1b.txt"
        picture = self.drawn(self.write(name.replace("/", "|"), "1 10\n2 20\n"))
        self.assertEqual([e for e in picture.iter() if "script" in str(e.tag)], [])
        self.assertEqual(self.texts(picture, "title"), [name.replace("/", "|").replace("\x1b", "")])

    def test_nothing_comes_from_outside(self) -> None:
        self.drawn("mmwave", "--length", "10s")
        svg = self.out.read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")
        for word in ("http", "href", "url(", "@import", "<script", "<image", "<foreignObject"):
            self.assertNotIn(word, svg)

    def test_what_fails_is_one_line_and_leaves_the_picture_as_it_was(self) -> None:
        self.out.write_text("as it was")
        for line, words in (("none` is neither a file nor a generator; known: constant", [self.folder / "none"]),
                            ("`markow` is neither a file nor a generator; did you mean `markov`?", ["markow", "a=b"]),
                            ("no such file", [self.write("a.txt", "1 10\n"), self.folder / "none"]),
                            ("--length: constant needs it", ["constant", "rate=1Gbit/s"]),
                            ("plot: constant: `rate` is missing", ["constant", "--length", "1s"]),
                            ("--rate-axis: unknown axis `logg`; did you mean `log`?", ["constant", "--rate-axis", "logg"]),
                            ("is negative", [self.write("bad.txt", "1 -10\n")])):
            done = self.plot(*words)
            self.assertEqual(done.returncode, 1, done)
            errors = [e for e in done.stderr.splitlines() if not e.startswith("note: ")]
            self.assertEqual(len(errors), 1, done.stderr)
            self.assertIn(line, errors[0])
            self.assertEqual(self.out.read_text(), "as it was")


if __name__ == "__main__":
    unittest.main()
