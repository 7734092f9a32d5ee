#!/usr/bin/env python3
"""What ptxas said of every kernel, as a table; fails when a decoder spills.

usage: tests/device/resources.py BUILD_FOLDER

Reads the *.ptxas files that the build keeps beside the objects of kernels (cmake/keep_log.sh). Occupancy is estimated from
registers alone, for blocks of 256 threads and the limits of NVIDIA's programming guide (table of technical specifications):
65536 registers per multiprocessor, handed out to warps in portions of 256.
"""

import pathlib
import re
import subprocess
import sys

WARPS_MAX = {75: 32, 80: 64, 86: 48, 89: 48, 90: 64, 100: 64, 120: 48}  # per multiprocessor
REGISTERS, PORTION, BLOCK_WARPS = 65536, 256, 8


def occupancy(capability, registers):
    """Share of the multiprocessor's warps that registers leave room for."""
    per_warp = -(-registers * 32 // PORTION) * PORTION
    blocks = REGISTERS // per_warp // BLOCK_WARPS
    most = WARPS_MAX[capability]
    return min(blocks * BLOCK_WARPS, most) / most


def parse(text):
    """[(mangled name, capability, registers, spill bytes, stack bytes, static shared bytes)]"""
    rows = []
    name = capability = None
    spill = stack = 0
    for line in text.splitlines():
        if found := re.search(r"Compiling entry function '(\S+)' for 'sm_(\d+)\w?'", line):
            name, capability, spill, stack = found[1], int(found[2]), 0, 0
        elif found := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            stack, spill = int(found[1]), int(found[2]) + int(found[3])
        elif (found := re.search(r"Used (\d+) registers", line)) and name:
            shared = re.search(r"(\d+) bytes smem", line)
            rows.append((name, capability, int(found[1]), spill, stack, int(shared[1]) if shared else 0))
            name = None
    return rows


def demangle(names):
    try:
        result = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return dict(zip(names, names))
    return dict(zip(names, (line.removeprefix("void ").split("(")[0].replace("sluice::", "") for line in result.stdout.splitlines())))


def table_of(rows):
    """One line per kernel; per architecture registers and occupancy, and spills where there are any."""
    capabilities = sorted({row[1] for row in rows})
    names = demangle(sorted({row[0] for row in rows}))
    lines = ["| kernel | " + " | ".join(f"sm_{c}" for c in capabilities) + " | static shared bytes |",
             "|---|" + "---|" * (len(capabilities) + 1)]
    for name in sorted(names, key=names.get):
        cells = {}
        shared = 0
        for other, capability, registers, spill, _, smem in rows:
            if other == name:
                cells[capability] = f"{registers}, {occupancy(capability, registers):.0%}" + (f", spills {spill} B" if spill else "")
                shared = max(shared, smem)
        lines.append(f"| `{names[name]}` | " + " | ".join(cells.get(c, "") for c in capabilities) + f" | {shared} |")
    return lines


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    logs = sorted(pathlib.Path(arguments[1]).rglob("*.ptxas"))
    rows = [row for log in logs for row in parse(log.read_text())]
    if not rows:
        print(f"error: {arguments[1]}: no ptxas report; build with SLUICE_CUDA=ON first", file=sys.stderr)
        return 1
    print("Registers and occupancy (blocks of 256 threads) per kernel:\n")
    print("\n".join(table_of(rows)))
    spilling = sorted({f"{row[0]} on sm_{row[1]}" for row in rows if "decode" in row[0] and row[3] > 0})
    for name in spilling:
        print(f"error: the decoder {name} spills registers; simplify it or raise its launch bounds", file=sys.stderr)
    return 1 if spilling else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
