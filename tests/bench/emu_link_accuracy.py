"""How true `./sluice emu link` keeps its rate, by iperf3: goodput of one CUBIC stream from the far end to the near one against the
header-corrected ideal, as a Markdown table. Needs root or user namespaces, and iperf3. Measures, asserts nothing.
Usage: tests/bench/emu_link_accuracy.py [--seconds 5] [--repeats 3] [--emulator tun]"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RATES = [0.1, 0.3, 1, 3]  # Gbit/s
DELAYS = [0, 10, 20]  # ms, one way
PAYLOAD_SHARE = (1500 - 52) / 1500  # IPv4, TCP and timestamps take 52 bytes of each packet
SLOW_START = 2  # seconds that iperf3 leaves out


def goodput(rate, delay, seconds, emulator):
    """In Gbit/s, as the receiver counted it after the stream's slow start."""
    client = ["iperf3", "-c", "{peer}", "-R", "-C", "cubic", "-O", str(SLOW_START), "-t", str(seconds), "-J"]
    command = [str(ROOT / "sluice"), "emu", "link", "--rate", f"{rate}Gbit/s", "--delay", f"{delay}ms"]
    command += ["--emulator", emulator] if emulator else []
    ran = subprocess.run(command + ["--peer", "iperf3 -s -1", "--"] + client, capture_output=True, text=True, timeout=seconds + 60)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}: {ran.stderr.strip() or ran.stdout.strip()}")
    report = json.loads(ran.stdout[ran.stdout.index("{"):])
    return report["end"]["sum_received"]["bits_per_second"] / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--emulator")
    wanted = parser.parse_args()
    print("| rate | one-way delay | goodput | ideal | error of the median | smallest and largest | load |")
    print("|---|---|---|---|---|---|---|")
    for rate in RATES:
        for delay in DELAYS:
            found = sorted(goodput(rate, delay, wanted.seconds, wanted.emulator) for _ in range(wanted.repeats))
            ideal, median = rate * PAYLOAD_SHARE, statistics.median(found)
            error, low, high = (100 * (value / ideal - 1) for value in (median, found[0], found[-1]))
            print(f"| {rate} Gbit/s | {delay} ms | {median:.4f} Gbit/s | {ideal:.4f} Gbit/s | {error:+.2f} % | {low:+.2f} %, {high:+.2f} % "
                  f"| {os.getloadavg()[0]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
