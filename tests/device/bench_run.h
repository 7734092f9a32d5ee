// The device benchmark: every codec and level, chunk sizes, geometries, all of the GPU and 16 of
// its multiprocessors; a table, and decode times for the simulator. Where in the flow:
// bench_main.cc calls it on a GPU, bench_test.cc on the host SIMT layer with tiny sizes.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "codec/decode_times.h"
#include "tests/device/bench_section.h"

namespace sluice {

struct BenchOptions {
  std::vector<BenchShape> shapes;  // those of the first model, whole GPU, make the decode times
  int confined_multiprocessors = 16;
  int repeats = 7;
  Duration budget{};  // no new section is begun after it
};
// Mistral-7B and Llama-3-70B at 256, 1536 and 9500 tokens.
[[nodiscard]] BenchOptions full_bench();

struct BenchRow {
  BenchShape shape;
  std::string codec, level;
  int multiprocessors = 0;
  SectionTimes times;
};

struct BenchReport {
  GpuFacts gpu;
  DataRate copy_rate = DataRate::bits_per_sec(0);  // device to device, bytes copied once
  std::vector<BenchRow> rows;
  std::vector<std::string> left_out;  // and why
};

[[nodiscard]] Result<BenchReport> run_bench(const BenchOptions& options);

void print_bench(const BenchReport& report, std::ostream& out);

// Lines through the first model's sizes; every number measured.
[[nodiscard]] DecodeTimes decode_times_of(const BenchReport& report, const std::string& device,
                                          const std::string& command);

}  // namespace sluice
