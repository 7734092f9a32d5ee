// Intervals and tests for shares and paired shares: Wilson, Tango, McNemar, Holm.
// Where in the flow: step 6; score.cc puts them together, nothing here knows of loads or policies.
// Surprise: all of these take the observations as independent; clusters.h is for those
// that are not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

struct Interval {
  double low = 0, high = 0;
  [[nodiscard]] double width() const { return high - low; }
  [[nodiscard]] bool contains(double x) const { return low <= x && x <= high; }
};

// The one with the greater width; `a` when equal.
[[nodiscard]] Interval wider(Interval a, Interval b);

// Of a share of `successes` in `trials`, by inverting the score test (Wilson, JASA 22, 1927, p.
// 209; recommended by Brown, Cai and DasGupta, Statistical Science 16, 2001). No trials: [0, 1]. 0
// <= successes <= trials; confidence in (0, 1).
[[nodiscard]] Interval wilson_interval(std::int64_t successes, std::int64_t trials,
                                       double confidence);

// Pairs of outcomes of one load under two policies, by who violated.
struct PairedCounts {
  std::int64_t both = 0, only_a = 0, only_b = 0, neither = 0;
  [[nodiscard]] std::int64_t pairs() const { return both + only_a + only_b + neither; }
};

// Of rate(a) - rate(b), by inverting the score test of paired shares (Tango, Statistics in Medicine
// 17, 1998, p. 891). Unlike a bootstrap it keeps a width when no pair is discordant: +-z^2 / (n +
// z^2). No pairs: [-1, 1].
[[nodiscard]] Interval tango_interval(const PairedCounts& counts, double confidence);

// Two-sided exact p of "a violates alone as often as b alone" (McNemar, Psychometrika 12, 1947, p.
// 153; exact by the binomial with p = 1/2). 1 when no pair is discordant.
[[nodiscard]] double mcnemar_exact_p(const PairedCounts& counts);

// p-values adjusted for the size of their family, in the order given (Holm, Scand. J. Statistics 6,
// 1979, p. 65): an adjusted p at or below alpha keeps the chance of any false alarm at or below
// alpha.
[[nodiscard]] std::vector<double> holm_adjusted(std::span<const double> p_values);

// The standard normal and Student's t; probability in (0, 1).
[[nodiscard]] double normal_quantile(double probability);
[[nodiscard]] double normal_cdf(double x);
[[nodiscard]] double students_t_quantile(double probability, std::int64_t degrees_of_freedom);
[[nodiscard]] double students_t_cdf(double x, std::int64_t degrees_of_freedom);

}  // namespace sluice
