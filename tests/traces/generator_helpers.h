// Traces from generators, and their statistics, for the tests of their laws.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/traces/trace_helpers.h"
#include "traces/distribution.h"
#include "traces/generate.h"

namespace sluice::testing {

inline LinkTrace made(const GeneratorSpec& spec, Duration length, std::uint64_t seed = 1,
                      std::uint64_t replicate = 0) {
  const auto trace = generate(spec, seed, replicate, length);
  if (!trace) {
    ADD_FAILURE() << trace.error().to_line();
    return {};
  }
  return *trace;
}

inline std::string refusal(const GeneratorSpec& spec, Duration length = std::chrono::seconds{10}) {
  const auto trace = generate(spec, 1, 0, length);
  return trace.ok() ? "made" : trace.error().to_line();
}

inline double mean_mbit(const LinkTrace& trace) {
  return summarise(trace).mean.megabits_per_sec();
}

// Stays in `rate` that both begin and end inside the trace.
inline std::vector<Duration> stays(const LinkTrace& trace, DataRate rate) {
  std::vector<Duration> out;
  for (std::size_t i = 1; i + 1 < trace.steps.size(); ++i) {
    if (trace.steps[i].rate == rate) out.push_back(step_end(trace, i) - trace.steps[i].start);
  }
  return out;
}

inline double mean_seconds(const std::vector<Duration>& times) {
  double sum = 0;
  for (const Duration time : times) sum += to_seconds(time);
  return sum / static_cast<double>(times.size());
}

// Mean rates in Mbit/s of consecutive intervals.
inline std::vector<double> means_mbit(const LinkTrace& trace, Duration interval) {
  std::vector<double> means;
  const TraceCursor cursor(trace, Duration::zero());
  for (Instant at = kRunStart; at + interval <= kRunStart + trace.length; at += interval) {
    const DataSize size = cursor.capacity_between(at, at + interval);
    means.push_back(mean_rate(size, interval).megabits_per_sec());
  }
  return means;
}

inline double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Covariance with itself `lag` values later.
inline double covariance(const std::vector<double>& values, std::size_t lag) {
  const double mean = mean_of(values);
  double sum = 0;
  for (std::size_t i = 0; i + lag < values.size(); ++i)
    sum += (values[i] - mean) * (values[i + lag] - mean);
  return sum / static_cast<double>(values.size() - lag);
}
inline double correlation(const std::vector<double>& values, std::size_t lag) {
  return covariance(values, lag) / covariance(values, 0);
}
inline double variation(const std::vector<double>& values) {
  return std::sqrt(covariance(values, 0)) / mean_of(values);
}

}  // namespace sluice::testing
