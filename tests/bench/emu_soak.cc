// The fault soak as a table: every fault so many times, what became of the loads, and what was left
// behind. Exit code 1 when anything is wrong. Over the emulated link where there are namespaces.
// Usage: emu_soak [TIMES [SEED]]   (default: 100 of each, 1)
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/table.h"
#include "emu/host/namespace.h"
#include "tests/emu/soak.h"

namespace sluice {
namespace {

void print(const SoakReport& report) {
  Table table;
  table.column("fault", "fault", Align::kLeft)
      .column("injected", "injected")
      .column("completed", "completed")
      .column("failed", "reported failed")
      .column("wrong", "wrong tensors")
      .column("hangs", "hangs")
      .column("longest", "longest load, ms")
      .column("missed", "over before it");
  for (const FaultTally& tally : report.faults) {
    table.row({to_text(tally.fault), std::to_string(tally.injected),
               std::to_string(tally.completed), std::to_string(tally.failed),
               std::to_string(tally.wrong_tensors), std::to_string(tally.hangs),
               fmt::format("{:.0f}", to_ms(tally.longest)), std::to_string(tally.missed)});
  }
  table.note("before: " + to_text(report.before));
  table.note("after:  " + to_text(report.after));
  table.note(fmt::format("took {:.0f} s", to_ms(report.took) / 1000));
  table.print_text(std::cout);
}

int soak(int argc, char** argv) {
  SoakOptions options;
  if (argc > 1) options.times = std::atoll(argv[1]);
  if (argc > 2) options.seed = static_cast<std::uint64_t>(std::atoll(argv[2]));
  if (options.times <= 0) {
    fmt::print(stderr, "usage: emu_soak [TIMES [SEED]]\n");
    return 2;
  }
  options.emu_program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sluice-emu";
  if (const auto missing = why_no_namespaces()) {
    fmt::print(stderr, "over loopback, without outages: {}\n", *missing);
    options.over_link = false;
  }
  const auto report = run_soak(options);
  if (!report) {
    fmt::print(stderr, "{}\n", report.error().to_line());
    return 1;
  }
  print(*report);
  const auto wrong = complaints(*report, options.times);
  for (const std::string& line : wrong) fmt::print(stderr, "{}\n", line);
  return wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  return sluice::soak(argc, argv);
}
