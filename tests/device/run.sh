#!/usr/bin/env bash
# Builds, checks and measures the CUDA backends on this machine's GPU, in at most 8 minutes, without a network.
# usage: tests/device/run.sh NAME [FOLDER]
#   NAME    the device's name for the simulator, as in `h200`: writes FOLDER/NAME.json (decode times), FOLDER/NAME.txt (the
#           table) and FOLDER/NAME-resources.md (registers, spills, occupancy)
#   FOLDER  default: out/device
# needs: an NVIDIA GPU with its driver, a CUDA Toolkit 12 or 13, cmake 3.25, ninja or make, g++ with C++20, python3, and the
# headers of fmt, nlohmann-json, OpenSSL and GoogleTest.
set -euo pipefail

home="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
say() { printf '%s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }

[ $# -ge 1 ] && [ $# -le 2 ] || fail "give the device a name, as in: tests/device/run.sh h200"
name="$1"
[[ "$name" =~ ^[a-z0-9][a-z0-9-]*$ ]] || fail "the name \`$name\` is not made of a-z, 0-9 and -; choose another"
out="${2:-$home/out/device}"
build="${SLUICE_BUILD:-$home/build-device}"
started=$SECONDS

# Everything that is missing, at once.
check_tools() {
  local missing=() tool
  for tool in cmake g++ python3; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  command -v ninja >/dev/null || command -v make >/dev/null || missing+=(ninja-build)
  command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || [ -x "${CUDA_HOME:-/none}/bin/nvcc" ] ||
    missing+=("the CUDA Toolkit (nvcc)")
  command -v nvidia-smi >/dev/null || missing+=("an NVIDIA driver (nvidia-smi)")
  local headers=(fmt/format.h:libfmt-dev nlohmann/json.hpp:nlohmann-json3-dev openssl/evp.h:libssl-dev
    gtest/gtest.h:libgtest-dev gmock/gmock.h:libgmock-dev)
  for tool in "${headers[@]}"; do
    printf '#include <%s>\n' "${tool%%:*}" | g++ -std=c++20 -E -x c++ - >/dev/null 2>&1 || missing+=("${tool##*:}")
  done
  [ ${#missing[@]} -eq 0 ] || fail "missing here: $(printf '%s, ' "${missing[@]}" | sed 's/, $//'); install them (Debian and Ubuntu: apt-get install PACKAGE)"
}

run_step() {  # NAME COMMAND...: its output goes to a log, and to the terminal when it fails
  local step="$1" log="$build/$1.log"
  shift
  say "$step ..."
  "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; fail "$step failed; see $log"; }
}

check_tools
mkdir -p "$build" "$out"
generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi
run_step configure cmake -S "$home" -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DSLUICE_DEVICE_ONLY=ON -DSLUICE_CUDA=ON
run_step build cmake --build "$build" --parallel "$(nproc)"
python3 "$home/tests/device/resources.py" "$build" >"$out/$name-resources.md"
say "tests ..."
"$build/bin/device_codec_test" --gtest_brief=1 | tee "$build/tests.log" >&2
# A skipped test is not a passed one here: this script exists for the GPU.
! grep -q SKIPPED "$build/tests.log" || fail "tests were skipped, so nothing was shown on a GPU; see above"
say "benchmarks (about 4 minutes) ..."
export SLUICE_HOME="$home"
"$build/bin/sluice-device-bench" --device "$name" --out "$out/$name.json" | tee "$out/$name.txt"
say "Done in $((SECONDS - started)) s. To give these times to the simulator: cp $out/$name.json codec/profiles/decode/"
