"""The presets' figures against the public data they are fitted to, read here without our own readers.

Run: SLUICE_BIN=build/bin python3 -m unittest -v tests/traces/preset_sources_test.py
Skipped where ../shared/data/links is absent; tests/traces/presets_test.cc then holds the presets to figures that nobody recomputes.
"""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import unittest
from pathlib import Path

PROGRAM = Path(os.environ["SLUICE_BIN"]).resolve() / "sluice-trace"
LINKS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "links"


def lumos(*names: str) -> list[float]:
    """Rates in Mbit/s of the traces, one per second."""
    return [float(line.split()[1]) for name in names for line in (LINKS / "lumos5g" / name).read_text().splitlines()]


def irish(*names: str) -> list[float]:
    """The mean of the rows of one second is one sample."""
    samples: list[float] = []
    for name in names:
        seconds: dict[str, list[float]] = {}
        with (LINKS / "raca5g" / name).open(newline="") as file:
            for row in csv.DictReader(file):
                seconds.setdefault(row["Timestamp"], []).append(float(row["DL_bitrate"]) / 1000)
        samples += [sum(rows) / len(rows) for rows in seconds.values()]
    return samples


def starlink() -> list[float]:
    with (LINKS / "starlink" / "autobahn_throughput_rows1-1500.csv").open(newline="") as file:
        return [float(row["download"]) for row in csv.DictReader(file)]


def verizon() -> list[float]:
    with (LINKS / "5gophers" / "throughput_all_carriers.csv").open(newline="") as file:
        return [float(row["throughput_mbps"]) for row in csv.DictReader(file)
                if row["carrier"] == "VERIZON" and row["num_tcp_conn"] == "8"]


SOURCES = {
    "lumos5g-walking": lambda: lumos("5g_trace_44_walking.txt", "5g_trace_54_walking.txt"),
    "lumos5g-driving": lambda: lumos("5g_trace_22_driving.txt", "5g_trace_80_driving.txt"),
    "irish-5g-driving": lambda: irish("download_driving_2019.12.16_12.27.05.csv", "download_driving_2020.02.14_09.38.22.csv"),
    "starlink-driving": starlink,
}
# mean, CV, p10, p50, p90 as printed in the rows of traces/generators/presets.cc and its README.
FIGURES = {
    "lumos5g-walking": (722, 0.80, 19, 702, 1610),
    "lumos5g-driving": (154, 1.16, 17, 103, 403),
    "irish-5g-driving": (30.6, 1.93, 0.60, 9.2, 105),
    "starlink-driving": (224, 0.44, 94, 225, 350),
    "mmwave": (1091, 0.47, 357, 1146, 1730),
}
MBIT = {"bit/s": 1e-6, "kbit/s": 1e-3, "Mbit/s": 1, "Gbit/s": 1e3}


def quantile(ordered: list[float], fraction: float) -> float:
    return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]


def statistics(samples: list[float]) -> tuple[float, ...]:
    ordered, mean = sorted(samples), sum(samples) / len(samples)
    deviation = math.sqrt(sum((s - mean) ** 2 for s in samples) / len(samples))
    return (mean, deviation / mean, *(quantile(ordered, f) for f in (0.1, 0.5, 0.9)))


def points_of(preset: dict[str, str]) -> list[tuple[float, float]]:
    """(fraction, rate in Mbit/s)."""
    text = preset["parameters"].split("points=")[1].split()[0]
    points = []
    for point in text.split(","):
        fraction, rate = point.split(":")
        digits = rate.rstrip("kMGbit/s")
        points.append((float(fraction), float(digits) * MBIT[rate[len(digits):]]))
    return points


@unittest.skipUnless(LINKS.is_dir(), f"no public traces: {LINKS} is absent")
class PresetSourcesTest(unittest.TestCase):
    def test_the_figures_are_those_of_the_data(self) -> None:
        for name, figures in FIGURES.items():
            samples = verizon() if name == "mmwave" else SOURCES[name]()
            for printed, measured in zip(figures, statistics(samples)):
                self.assertAlmostEqual(printed, measured, delta=0.01 * measured, msg=name)

    def test_every_point_of_a_preset_is_a_quantile_of_its_data(self) -> None:
        listed = json.loads(subprocess.run([PROGRAM, "list", "--format", "json"], capture_output=True, text=True, check=True).stdout)
        presets = {preset["id"]: preset for preset in listed["presets"]}
        # Of the 121 traces of `lumos5g`, only statistics are at hand.
        self.assertEqual(set(presets) - set(SOURCES), {"lumos5g"})
        for name, source in SOURCES.items():
            ordered = sorted(source())
            num_zero = sum(1 for sample in ordered if sample == 0)
            zero = max(fraction for fraction, rate in points_of(presets[name]) if rate == 0)
            self.assertAlmostEqual(zero, num_zero / len(ordered), delta=0.001, msg=name)
            for fraction, rate in points_of(presets[name]):
                if rate > 0:
                    measured = quantile(ordered, fraction)
                    self.assertAlmostEqual(rate, measured, delta=0.01 * measured + 0.001, msg=f"{name} {fraction}")


if __name__ == "__main__":
    unittest.main()
