"""Tests of `sluice trace`: what it prints, where, and how it fails.

Run: SLUICE_BIN=build/bin python3 -m unittest -v tests/traces/trace_cli_test.py
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(os.environ["SLUICE_BIN"]).resolve() / "sluice-trace"


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60)


class TraceCliTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def assert_fails(self, line: str, *words: str | Path, code: int = 1) -> None:
        """Exit code, nothing on stdout, and exactly one error line on stderr that holds `line`."""
        done = run(*words)
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(done.stdout, "")
        errors = [e for e in done.stderr.splitlines() if not e.startswith("note: ")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertTrue(errors[0].startswith("error: "), errors[0])
        self.assertIn(line, errors[0])

    def test_inspect_json_has_the_agreed_names(self) -> None:
        trace = self.write("three.txt", "1 10\n2 20\n3 0\n")
        done = run("inspect", trace, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(done.stdout)
        expected = {"reader": "two-column", "unit": "Mbit/s", "rows": 3, "skipped": 0, "duration_s": 3.0, "mean_bps": 10_000_000,
                    "min_bps": 0, "max_bps": 20_000_000, "sha256": hashlib.sha256(trace.read_bytes()).hexdigest(),
                    "p10_bps": 0, "p50_bps": 10_000_000, "p90_bps": 20_000_000,
                    "kind": "achieved throughput", "clock": "time", "outage_s": 1.0, "longest_outage_s": 1.0}
        self.assertEqual({k: shown[k] for k in expected}, expected)

    def test_inspect_says_which_reader_was_chosen_and_why_on_stderr(self) -> None:
        done = run("inspect", self.write("x.down", "1\n2\n"))
        self.assertIn("x.down is read as mahimahi: its first line is one whole number", done.stderr)
        self.assertNotIn("note", done.stdout)

    def test_inspect_warns_about_an_unlikely_mean(self) -> None:
        done = run("inspect", self.write("slow.txt", "1 0.000001\n2 0.000001\n"), "--format", "json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning: slow.txt: the mean rate is 1 bit/s", done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["warnings"]), 1)

    def test_inspect_shows_each_trace_of_a_file_beside_the_summary(self) -> None:
        file = self.write("bw.jsonl", '{"bw": [1, 3]}\n{"bw": [5, 7]}\n')
        shown = json.loads(run("inspect", file, "--format", "json").stdout)
        self.assertEqual(shown["rows"], 4)
        self.assertEqual(shown["mean_bps"], 4_000_000_000)
        self.assertIsNone(shown["duration_s"])
        self.assertEqual(shown["sha256"], hashlib.sha256(file.read_bytes()).hexdigest())
        self.assertEqual([t["mean_bps"] for t in shown["traces"]], [2_000_000_000, 6_000_000_000])
        self.assertEqual(shown["traces"][1]["sha256"], hashlib.sha256(b'{"bw": [5, 7]}').hexdigest())

    def test_inspect_of_traces_that_are_too_long_together_has_no_figures_of_all(self) -> None:
        # 32 carriers in a car for almost ten years each: 320 years do not fit into 64 bits of nanoseconds.
        carriers = ",".join(f"C{n}_throughput_mbps" for n in range(32))
        rows = "".join(f"TCP,8,{second}{',12' * 32}\n" for second in (0, 315_000_000))
        file = self.write("car.csv", f"protocol,num_tcp_conn,seq_num,{carriers}\n{rows}")
        done = run("inspect", file, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(done.stdout)
        self.assertEqual((shown["name"], len(shown["traces"])), ("car.csv", 32))
        self.assertEqual(shown["rows"], sum(t["rows"] for t in shown["traces"]))
        self.assertEqual({t["duration_s"] for t in shown["traces"]}, {315_000_001.0})
        for figure in ("duration_s", "mean_bps", "min_bps", "p50_bps", "outage_s", "steps"):
            self.assertIsNone(shown[figure], figure)
        self.assertIn("together the traces are longer than ten years: no figures of all", shown["notes"])

    def test_inspect_csv_has_a_row_per_trace(self) -> None:
        file = self.write("bw.jsonl", '{"bw": [1, 3]}\n{"bw": [5, 7]}\n')
        rows = list(csv.DictReader(io.StringIO(run("inspect", file, "--format", "csv").stdout)))
        self.assertEqual([r["name"] for r in rows], ["bw.jsonl#1", "bw.jsonl#2"])
        self.assertEqual(rows[0]["max_bps"], "3000000000")

    def test_inspect_says_what_was_skipped_and_why(self) -> None:
        done = run("inspect", self.write("slice.txt", "0 9\n1 10\n2 20\n"), "--format", "json")
        self.assertIn("note: 1 row skipped: stamped 0, it ends no interval\n", done.stderr)
        self.assertEqual(json.loads(done.stdout)["skipped_rows"], [{"count": 1, "reason": "stamped 0, it ends no interval"}])

    def test_inspect_shows_delay_and_loss_where_the_file_has_them(self) -> None:
        done = run("inspect", self.write("game.log", "0 10 8ms 0.5\n1 20 16ms 0\n"), "--format", "json")
        shown = json.loads(done.stdout)
        self.assertEqual(shown["one_way_delay"], {"mean_s": 0.006, "min_s": 0.004, "max_s": 0.008})
        self.assertEqual(shown["loss"], {"mean_ppm": 250000, "max_ppm": 500000})
        row = next(csv.DictReader(io.StringIO(run("inspect", self.folder / "game.log", "--format", "csv").stdout)))
        self.assertEqual((row["mean_delay_s"], row["mean_loss_ppm"]), ("0.006", "250000"))
        plain = json.loads(run("inspect", self.write("plain.txt", "1 10\n"), "--format", "json").stdout)
        self.assertIsNone(plain["one_way_delay"])

    def test_convert_says_what_the_format_has_no_place_for(self) -> None:
        game = self.write("game.log", "0 10 8ms 0.5\n1 20 16ms 0\n")
        self.assertIn("note: csv has no place for the delay and the loss of the source\n", run("convert", game, self.folder / "a", "--to", "csv").stderr)
        self.assertIn("note: sabre has no place for the loss of the source\n", run("convert", game, self.folder / "b", "--to", "sabre").stderr)
        self.assertNotIn("no place", run("convert", self.write("plain.txt", "1 10\n"), self.folder / "c", "--to", "csv").stderr)

    def test_convert_says_which_formats_lose_the_kind(self) -> None:
        capacity = self.write("cable.down", "1\n2\n")
        achieved = self.write("plain.txt", "1 12\n2 24\n")
        for to, is_read_as in (("mahimahi", "capacity"), ("two-column", "throughput"), ("sabre", "throughput"), ("csv", None)):
            for source, kind in ((capacity, "capacity"), (achieved, "throughput")):
                out = self.folder / f"{to}-{kind}"
                told = run("convert", source, out, "--to", to).stderr
                shown = json.loads(run("inspect", out, "--format", "json").stdout)["kind"].split()[-1]
                self.assertEqual(shown, is_read_as or kind)
                note = f"note: {to} does not say what the rates are and is read as {is_read_as}; read it with --kind {kind}, as the source is\n"
                self.assertEqual(note in told, shown != kind, told)
                self.assertEqual("does not say what the rates are" in told, shown != kind, told)

    def test_one_of_several_traces_can_be_converted(self) -> None:
        cars = self.write("car.csv", "protocol,num_tcp_conn,seq_num,A_throughput_mbps,B_throughput_mbps\nTCP,8,0,12,24\nTCP,8,1,36,48\n")
        out = self.folder / "b.csv"
        self.assert_fails("csv holds one trace per file, not 2; choose one with --trace", "convert", cars, out, "--to", "csv")
        done = run("convert", cars, out, "--to", "csv", "--trace", "B_throughput_mbps")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(out.read_text(), "t_ns,throughput_bps\n0,24000000\n1000000000,48000000\n2000000000,\n")
        shown = json.loads(run("inspect", cars, "--format", "json").stdout)
        self.assertEqual((shown["duration_s"], shown["mean_bps"]), (4.0, 30_000_000))  # both, one after the other

    def test_list_names_readers_generators_and_writers(self) -> None:
        shown = json.loads(run("list", "--format", "json").stdout)
        readers = [r["id"] for r in shown["readers"]]
        self.assertEqual(readers[:5], ["mahimahi", "two-column", "sabre", "csv", "cachegen"])
        self.assertEqual(len(readers), 16)
        self.assertIn("markov", [g["id"] for g in shown["generators"]])
        self.assertEqual([r["id"] for r in shown["workload_readers"]],
                         ["mooncake", "azure-llm", "burstgpt", "vidur", "splitwise-sim", "llmservingsim", "workload-csv"])
        self.assertLessEqual({w["id"] for w in shown["writers"]}, set(readers))

    def test_inspect_of_a_workload_has_the_agreed_names(self) -> None:
        file = self.write("two.jsonl", '{"timestamp": 0, "input_length": 600, "output_length": 4, "hash_ids": [0, 1]}\n'
                                       '{"timestamp": 2500, "input_length": 1000, "output_length": 8, "hash_ids": [0, 2]}\n')
        done = run("inspect", file, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(done.stdout)
        expected = {"reader": "mooncake", "requests": 2, "duration_s": 2.5, "input_tokens_mean": 800.0, "output_tokens_mean": 6.0,
                    "block_tokens": 512, "block_reuse_fraction": 0.25, "skipped": 0,
                    "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
        self.assertEqual({k: shown[k] for k in expected}, expected)
        self.assertIn('is read as mooncake: its first line is JSON with "input_length"', done.stderr)

    def test_inspect_of_a_workload_says_what_was_skipped_and_why(self) -> None:
        file = self.write("burst.csv", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
                                       "5,GPT-4,10,0,10,API log\n6,GPT-4,10,1,11,API log\n")
        self.assertIn("1 rows skipped: no response tokens: the request failed", run("inspect", file).stdout)
        shown = json.loads(run("inspect", file, "--format", "json").stdout)
        self.assertEqual(shown["skipped_rows"], [{"count": 1, "reason": "no response tokens: the request failed"}])

    def test_inspect_asks_for_the_columns_of_a_strange_workload(self) -> None:
        file = self.write("own.csv", "when,prompt\n1,5\n2,7\n")
        named = ["inspect", file, "--reader", "workload-csv", "--input-column", "prompt", "--output-column", "none", "--time-column"]
        self.assert_fails("--time-unit: the reader workload-csv needs it; say s, ms, us or ns", *named, "when")
        shown = json.loads(run(*named, "when", "--time-unit", "s", "--format", "json").stdout)
        self.assertEqual((shown["requests"], shown["duration_s"], shown["output_tokens_mean"]), (2, 1.0, None))
        self.assert_fails("--unit: a workload has no rates; leave it out", *named, "none", "--unit", "bit/s")
        self.assert_fails("--trace: a workload file holds one trace; leave it out", *named, "none", "--trace", "2")
        self.assert_fails("--trace: a workload file holds one trace; leave it out", "plot", *named[1:], "none", "--trace", "2",
                          "--out", self.folder / "own.svg")
        self.assert_fails("--block-tokens: the file is read as a link trace", "inspect", self.write("x", "1\n"), "--block-tokens", "16")
        self.assert_fails("--reader: unknown reader `vidr`; did you mean `vidur`?", "inspect", file, "--reader", "vidr")

    def test_synth_makes_the_same_bytes_for_the_same_seed(self) -> None:
        words = ["synth", "markov", "states=3Gbit/s:2s,100Mbit/s:500ms", "--length", "60s", "--seed"]
        for name, seed in (("a", "5"), ("b", "5"), ("c", "6")):
            done = run(*words, seed, self.folder / name)
            self.assertEqual(done.returncode, 0, done.stderr)
        a, b, c = ((self.folder / n).read_bytes() for n in "abc")
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)
        shown = json.loads(run("inspect", self.folder / "a", "--format", "json").stdout)
        self.assertEqual((shown["duration_s"], shown["kind"]), (60.0, "capacity"))

    def test_synth_per_chunk_writes_one_line_per_replicate(self) -> None:
        out = self.folder / "bw.jsonl"
        run("synth", "uniform-per-chunk", "low=100Mbit/s", "high=10Gbit/s", "chunks=10", "--replicates", "3", out)
        lines = [json.loads(line)["bw"] for line in out.read_text().splitlines()]
        self.assertEqual([len(bw) for bw in lines], [10, 10, 10])
        self.assertTrue(all(0.1 <= rate <= 10 for bw in lines for rate in bw))

    def test_convert_writes_what_inspect_reads(self) -> None:
        source = self.write("three.txt", "1 12\n2 24\n3 0\n")
        for to in ("mahimahi", "two-column", "csv", "sabre"):
            out = self.folder / to
            self.assertEqual(run("convert", source, out, "--to", to).returncode, 0)
            shown = json.loads(run("inspect", out, "--format", "json").stdout)
            self.assertEqual((shown["reader"], shown["duration_s"], shown["mean_bps"]), (to, 3.0, 12_000_000))

    def test_errors_are_one_line_with_place_and_fix(self) -> None:
        bad = self.write("bad.txt", "1 10\n2 -20\n")
        self.assert_fails(f"{bad}:2: the rate `-20` is negative; a rate is zero or more", "inspect", bad)
        self.assert_fails("no such file; check the path", "inspect", self.folder / "none")
        self.assert_fails("--format: unknown format `xml`", "inspect", bad, "--format", "xml")
        self.assert_fails("--unit: unknown unit `furlong`", "inspect", bad, "--unit", "furlong")
        self.assert_fails("--stamps: unknown rule `middle`", "inspect", bad, "--stamps", "middle")
        self.assert_fails("--length: constant needs it", "synth", "constant", "rate=1Gbit/s", self.folder / "out")
        self.assert_fails("synth: unknown generator `constat`; did you mean `constant`?",
                          "synth", "constat", "rate=1Gbit/s", self.folder / "out")
        self.assert_fails("`extra` is not a parameter", "synth", "constant", "extra", self.folder / "out")

    def test_wrong_use_is_told_in_one_line(self) -> None:
        self.assert_fails("no command is given; known: list", code=2)
        self.assert_fails("--nonsense", "list", "--nonsense", code=2)
        self.assert_fails("FILE is required", "inspect", code=2)

    def test_what_fails_leaves_the_output_as_it_was(self) -> None:
        out = self.write("out", "as it was")
        self.assert_fails("is negative", "convert", self.write("bad.txt", "1 -10\n"), out, "--to", "csv")
        self.assert_fails("cachegen holds rates per chunk", "convert", self.write("ok.txt", "1 10\n"), out, "--to", "cachegen")
        self.assertEqual(out.read_text(), "as it was")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["bad.txt", "ok.txt", "out"])

    def test_the_examples_of_the_help_work(self) -> None:
        for command in ([], ["synth"], ["convert"], ["inspect"]):
            done = run(*command, "--help")
            self.assertEqual(done.returncode, 0)
            example = next(l for l in done.stdout.splitlines() if l.startswith("example: ./sluice trace "))
            (self.folder / "trace.down").write_text("1\n2\n")
            (self.folder / "trace.txt").write_text("1 12\n2 24\n")
            shown = subprocess.run([PROGRAM, *example.split()[3:]], cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertEqual(shown.returncode, 0, shown.stderr)


if __name__ == "__main__":
    unittest.main()
