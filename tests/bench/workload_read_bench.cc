// How fast workload traces are read, one core: build/bin/workload_read_bench [FORMAT [ROWS]].
// FORMAT is azure-llm (the default) or mooncake (24 blocks a request, four in ten of them seen
// before); ROWS defaults to 10^7. A temporary file is written, read once to warm the cache, and
// then read five times with all statistics, as `sluice trace inspect` does; medians, of processor
// time.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/bench/process_usage.h"
#include "traces/workload/summary.h"

namespace sluice {
namespace {

constexpr int kRepeats = 5;
constexpr std::int64_t kBlocks = 24, kSharedBlocks = 10;

// A week of stamps with seven digits, as Azure writes them: day, hour, minute and second count up.
void write_azure(std::FILE* out, std::int64_t num_rows) {
  std::fputs("TIMESTAMP,ContextTokens,GeneratedTokens\r\n", out);
  for (std::int64_t i = 0; i < num_rows; ++i) {
    const std::int64_t us = i * 60'000;  // ten million rows are a week
    const std::int64_t s = us / 1'000'000;
    fmt::print(out, "2024-05-{:02} {:02}:{:02}:{:02}.{:06}0,{},{}\r\n", 10 + s / 86'400 % 20,
               s / 3600 % 24, s / 60 % 60, s % 60, us % 1'000'000, 1 + i * 7919 % 7437,
               1 + i * 31 % 400);
  }
}

void write_mooncake(std::FILE* out, std::int64_t num_rows) {
  for (std::int64_t i = 0; i < num_rows; ++i) {
    fmt::print(out, R"({{"timestamp": {}, "input_length": {}, "output_length": 300, "hash_ids": [)",
               i / 10 * 3000, kBlocks * 512 - i % 512);
    for (std::int64_t b = 0; b < kBlocks; ++b) {
      const bool shared = b < kSharedBlocks;
      fmt::print(out, "{}{}", b == 0 ? "" : ", ",
                 shared ? i % 100 * kSharedBlocks + b : 1000 + i % 100'000 * kBlocks + b);
    }
    std::fputs("]}\n", out);
  }
}

// Ends the program with the error's line.
void must_read(const std::filesystem::path& path, std::int64_t num_rows) {
  const auto summary = summarise_workload(path);
  if (summary && summary->num_requests == num_rows) return;
  fmt::print(stderr, "{}\n", summary ? "error: rows are missing" : summary.error().to_line());
  std::exit(1);
}

int run(int argc, char** argv) {
  const std::string format = argc > 1 ? argv[1] : "azure-llm";
  const std::int64_t num_rows = argc > 2 ? std::strtoll(argv[2], nullptr, 10) : 10'000'000;
  if (num_rows < 1 || (format != "azure-llm" && format != "mooncake")) {
    fmt::print(stderr, "error: usage: workload_read_bench [azure-llm|mooncake [ROWS]]\n");
    return 2;
  }
  const auto path = std::filesystem::temp_directory_path() /
                    fmt::format("sluice-workload-read-bench-{}", ::getpid());
  std::FILE* out = std::fopen(path.c_str(), "w");
  if (out == nullptr) {
    fmt::print(stderr, "error: {}: cannot be written; check its folder\n", path.string());
    return 1;
  }
  format == "mooncake" ? write_mooncake(out, num_rows) : write_azure(out, num_rows);
  std::fclose(out);
  std::vector<double> seconds;
  must_read(path, num_rows);
  for (int i = 0; i < kRepeats; ++i) {
    const double began = processor_seconds();
    must_read(path, num_rows);
    seconds.push_back(processor_seconds() - began);
  }
  std::sort(seconds.begin(), seconds.end());
  const double bytes = static_cast<double>(std::filesystem::file_size(path));
  const double median = seconds[seconds.size() / 2];
  std::filesystem::remove(path);
  fmt::print("{}: {} rows, {:.1f} MB: {:.0f} MB/s, {:.2f} million rows/s, peak {:.0f} MiB\n",
             format, num_rows, bytes / 1e6, bytes / 1e6 / median,
             static_cast<double>(num_rows) / 1e6 / median, peak_mib());
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  return sluice::run(argc, argv);
}
