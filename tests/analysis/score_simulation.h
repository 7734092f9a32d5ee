// Experiments with a known truth, to see whether intervals and verdicts hold what they promise.
// Where in the flow: behind score_calibration_test.cc (fast, asserted) and score_calibration (a
// table of many cases).
#pragma once

#include <cstdint>

#include "analysis/score/score.h"

namespace sluice {

// A window's share of violations is drawn from Beta(1, b), whose mean is 1 / (1 + b) and whose
// loads correlate with rho = 1 / (2 + b); without `dependent` it is the mean in every window.
struct Experiment {
  std::int64_t clusters = 40, loads = 25;
  double b = 4;
  bool dependent = true;
  [[nodiscard]] double truth() const { return 1 / (1 + b); }
};

// Shares of the experiments whose 95 % interval holds the truth.
struct Coverage {
  double published = 0, wilson = 0;
};
[[nodiscard]] Coverage coverage_of(const Experiment& experiment, std::int64_t repeats);

// How two policies of one violation rate come to differ by chance.
enum class Noise {
  kPerLoad,    // the same windows, a coin of its own per load
  kPerWindow,  // good and bad windows of its own: McNemar alone is fooled
};

// Shares of the comparisons of a with b, which violates in `extra` of the loads besides.
struct Verdicts {
  double better = 0, worse = 0, equivalent = 0, undecided = 0;
};
[[nodiscard]] Verdicts verdicts_of(Noise noise, double extra, std::int64_t clusters,
                                   std::int64_t repeats);

// `policies` of one violation rate, all pairs compared: how often is any pair called different?
[[nodiscard]] double family_false_alarms(Noise noise, std::int64_t policies, std::int64_t clusters,
                                         std::int64_t repeats);

}  // namespace sluice
