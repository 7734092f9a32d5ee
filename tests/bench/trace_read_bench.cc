// How fast link-trace files are read, one core: build/bin/trace_read_bench [FORMAT [ROWS]]. FORMAT
// is csv (our own form; the default), two-column or mahimahi; ROWS (10^7) all differ from their
// neighbours in rate, but in mahimahi, where 3 Gbit/s fit in a few steps. A temporary file is
// written, read once to warm the cache, and then read five times; medians, of processor time.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/bench/process_usage.h"
#include "traces/read.h"

namespace sluice {
namespace {

constexpr int kRepeats = 5;

// Rows of `format`, some 20 ms apart, rates of a mobile link with all their digits.
void write_rows(std::FILE* out, const std::string& format, std::int64_t num_rows) {
  if (format == "csv") std::fputs("t_ns,capacity_bps\n", out);
  for (std::int64_t i = 0; i < num_rows; ++i) {
    const std::int64_t rate = 1'000'000 + i * 7'919'993 % 300'000'000;
    if (format == "csv") {
      fmt::print(out, "{},{}\n", i * 20'000'003, rate);
    } else if (format == "two-column") {
      fmt::print(out, "{:.3f}\t{:.6f}\n", static_cast<double>(i) * 0.02,
                 static_cast<double>(rate) / 1e6);
    } else {
      fmt::print(out, "{}\n", 1 + i / 250);  // 250 packets per ms
    }
  }
}

// Ends the program with the error's line.
LinkTrace must_read(const std::filesystem::path& path, const ReadOptions& options) {
  auto traces = read_traces(path, options);
  if (traces) return std::move(traces->front());
  fmt::print(stderr, "{}\n", traces.error().to_line());
  std::exit(1);
}

int run(int argc, char** argv) {
  const std::string format = argc > 1 ? argv[1] : "csv";
  const std::int64_t num_rows = argc > 2 ? std::strtoll(argv[2], nullptr, 10) : 10'000'000;
  if (num_rows < 2 || (format != "csv" && format != "two-column" && format != "mahimahi")) {
    fmt::print(stderr, "error: usage: trace_read_bench [csv|two-column|mahimahi [ROWS]]\n");
    return 2;
  }
  const auto path = std::filesystem::temp_directory_path() /
                    fmt::format("sluice-trace-read-bench-{}", ::getpid());
  std::FILE* out = std::fopen(path.c_str(), "w");
  if (out == nullptr) {
    fmt::print(stderr, "error: {}: cannot be written; check its folder\n", path.string());
    return 1;
  }
  write_rows(out, format, num_rows);
  std::fclose(out);
  ReadOptions options;
  options.reader = format;
  std::vector<double> seconds;
  std::size_t num_steps = must_read(path, options).steps.size();
  for (int i = 0; i < kRepeats; ++i) {
    const double began = processor_seconds();
    num_steps = must_read(path, options).steps.size();
    seconds.push_back(processor_seconds() - began);
  }
  std::sort(seconds.begin(), seconds.end());
  const double bytes = static_cast<double>(std::filesystem::file_size(path));
  const double median = seconds[seconds.size() / 2];
  std::filesystem::remove(path);
  fmt::print(
      "{}: {} rows, {:.1f} MB, {} steps: {:.0f} MB/s, {:.1f} million rows/s, peak {:.0f} MiB\n",
      format, num_rows, bytes / 1e6, num_steps, bytes / 1e6 / median,
      static_cast<double>(num_rows) / 1e6 / median, peak_mib());
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  return sluice::run(argc, argv);
}
