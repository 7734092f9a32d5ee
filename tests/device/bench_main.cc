// sluice-device-bench: the device benchmark on the GPU of this machine. Built with few libraries,
// so that tests/device/run.sh needs few; hence the plain arguments.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <span>
#include <string>

#include "tests/device/bench_run.h"
#include "tests/device/bench_tune.h"

namespace {

using sluice::DecodeTimes, sluice::Error, sluice::Status;

int fail(const Error& error) {
  std::fputs((error.to_line() + "\n").c_str(), stderr);
  return 1;
}

int usage() {
  std::fputs(
      "usage: sluice-device-bench --device NAME --out FILE.json   measure, print a table, write "
      "decode times\n"
      "       sluice-device-bench --tune                          print this GPU's row of the "
      "launch table\n",
      stderr);
  return 2;
}

int bench(const std::string& device, const std::string& out) {
  const auto report = sluice::run_bench(sluice::full_bench());
  if (!report) return fail(report.error());
  sluice::print_bench(*report, std::cout);
  const DecodeTimes times =
      sluice::decode_times_of(*report, device, "tests/device/run.sh " + device);
  if (const Status status = sluice::write_decode_times(times, out); !status)
    return fail(status.error());
  const auto again = sluice::read_decode_times(out);
  return again ? 0 : fail(again.error());
}

int tune() {
  const auto row = sluice::tuned_row(sluice::full_bench().shapes[1], 5);
  if (!row) return fail(row.error());
  std::cout << *row << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  const auto is = [&](std::size_t i, std::string_view text) { return arguments[i] == text; };
  if (argc == 2 && is(1, "--tune")) return tune();
  if (argc == 5 && is(1, "--device") && is(3, "--out")) return bench(arguments[2], arguments[4]);
  return usage();
}
