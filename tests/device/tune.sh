#!/usr/bin/env bash
# Measures the launch parameters of this machine's GPU and puts them into codec/device/launch_table.inc.
# usage: tests/device/tune.sh      after tests/device/run.sh, whose build it uses
set -euo pipefail

home="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
bench="${SLUICE_BUILD:-$home/build-device}/bin/sluice-device-bench"
table="$home/codec/device/launch_table.inc"
[ -x "$bench" ] || { printf 'error: %s is not built; run tests/device/run.sh first\n' "$bench" >&2; exit 1; }

row="$("$bench" --tune)"
capability="$(printf '%s' "$row" | sed -n 's/^{\([0-9]*\),.*/\1/p')"
[ -n "$capability" ] || { printf 'error: no row came back\n' >&2; exit 1; }
python3 - "$table" "$capability" "$row" <<'PYTHON'
import pathlib
import re
import sys

table, capability, row = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
lines = [line for line in table.read_text().splitlines() if not line.startswith(f"{{{capability},")]
place = next((i for i, line in enumerate(lines) if (m := re.match(r"\{(\d+),", line)) and int(m[1]) > capability), len(lines))
lines.insert(place, row + "  // measured by tests/device/tune.sh")
new = table.with_suffix(".new")
new.write_text("\n".join(lines) + "\n")
new.replace(table)
PYTHON
printf '%s\n' "$row"
