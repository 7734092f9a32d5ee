#include "tests/bench/speed_measure.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

namespace sluice::bench {
namespace {

constexpr double kSecondsPerRepeat = 0.02;
constexpr double kMeanSecondsMax = 0.17;  // what lasts longer is repeated less often

// Keeps each repeat's time and prints nothing.
class Repeats final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred || run.iterations == 0) continue;
      const auto iterations = static_cast<double>(run.iterations);
      wall_seconds.push_back(run.real_accumulated_time / iterations);
      cpu_seconds.push_back(run.cpu_accumulated_time / iterations);
    }
  }
  std::vector<double> wall_seconds, cpu_seconds;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Result<double> median_seconds(const std::string& name, const Timing& timing, int cores,
                              const std::function<Status()>& work) {
  std::optional<Error> failure;
  Repeats repeats;
  const auto loop = [&](benchmark::State& state) {
    for ([[maybe_unused]] auto _ : state) {
      const Status status = work();
      if (status) continue;
      failure = status.error();
      state.SkipWithError("failed");
      break;
    }
  };
  const auto run = [&](int times) {
    benchmark::RegisterBenchmark(name.c_str(), loop)
        ->Repetitions(times)
        ->MinTime(kSecondsPerRepeat)
        ->MeasureProcessCPUTime()
        ->UseRealTime();
    benchmark::RunSpecifiedBenchmarks(&repeats);
    benchmark::ClearRegisteredBenchmarks();
  };
  run(1);
  if (failure) return *failure;
  const double seconds = std::max(repeats.wall_seconds.front(), kSecondsPerRepeat);
  const double affordable = timing.repeats * kMeanSecondsMax / seconds;
  const int left = std::min(timing.repeats - 1, static_cast<int>(affordable));
  if (left > 0) run(left);
  if (failure) return *failure;
  return timing.clock == Clock::kWall ? median(repeats.wall_seconds)
                                      : median(repeats.cpu_seconds) / cores;
}

}  // namespace sluice::bench
