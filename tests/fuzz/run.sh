#!/usr/bin/env bash
# Runs every fuzz target under libFuzzer in turn and prints a table of executions and findings.
# usage: tests/fuzz/run.sh [SECONDS [TARGET...]]     SECONDS (default 60) are shared by the targets.
# Needs clang and libclang-rt-14-dev (Debian 12). Findings stay in build-fuzz/findings/; exit code 1 if there are any.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build="${SLUICE_FUZZ_BUILD:-build-fuzz}"
seconds="${1:-60}"
shift || true
[[ "$seconds" =~ ^[1-9][0-9]*$ ]] || { echo "error: SECONDS: \`$seconds\` is not a whole number above 0; say how long to run" >&2; exit 2; }

command -v clang++ >/dev/null || { echo "error: no clang++; install the Debian packages clang and libclang-rt-14-dev" >&2; exit 1; }
[ -f "$build/build.ninja" ] || cmake --preset fuzz -B "$build" >&2
ninja -C "$build" sluice-fuzz >&2
program="$build/bin/sluice-fuzz"

mapfile -t known < <(SLUICE_FUZZ_TARGET=list "$program")
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=("${known[@]}")
for target in "${targets[@]}"; do
  printf '%s\n' "${known[@]}" | grep -qxF -- "$target" || { echo "error: no target \`$target\`; known: ${known[*]}" >&2; exit 2; }
done
each=$((seconds / ${#targets[@]}))
[ "$each" -gt 0 ] || each=1

mkdir -p "$build/findings"
failed=0
printf '%-20s %8s %12s %10s %10s %s\n' target seconds executions per_second corpus findings
for target in "${targets[@]}"; do
  grown="$build/corpus/$target"  # what libFuzzer adds stays out of the repository
  log="$build/findings/$target.log"
  mkdir -p "$grown"
  code=0
  SLUICE_FUZZ_TARGET="$target" "$program" "$grown" "tests/fuzz/corpus/$target" -max_total_time="$each" -max_len=16384 -timeout=20 \
    -rss_limit_mb=3072 -print_final_stats=1 -verbosity=1 -artifact_prefix="$build/findings/$target-" >"$log" 2>&1 || code=$?
  executions="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)"
  found=none
  if [ "$code" -ne 0 ]; then
    failed=1
    found="$(grep -m1 -E '^finding: |^bug: |ERROR: |runtime error: ' "$log" || tail -1 "$log")"
  fi
  printf '%-20s %8d %12d %10d %10d %s\n' "$target" "$each" "${executions:-0}" "$((${executions:-0} / each))" "$(find "$grown" -type f | wc -l)" "$found"
done
if [ "$failed" -ne 0 ]; then
  echo "findings: $build/findings/TARGET.log, and the inputs beside it; run one again with" >&2
  echo "  SLUICE_FUZZ_TARGET=TARGET $program FILE" >&2
fi
exit "$failed"
