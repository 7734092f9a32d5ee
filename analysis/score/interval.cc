#include "analysis/score/interval.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "base/assert.h"

namespace sluice {
namespace {

double two_sided_z(double confidence) {
  SLUICE_ASSERT(confidence > 0 && confidence < 1, "a confidence lies between 0 and 1");
  return normal_quantile(0.5 + confidence / 2);
}

boost::math::students_t_distribution<double> students_t(std::int64_t degrees_of_freedom) {
  SLUICE_ASSERT(degrees_of_freedom > 0, "Student's t needs at least one degree of freedom");
  return boost::math::students_t_distribution<double>(static_cast<double>(degrees_of_freedom));
}

// Tango's score statistic at `difference`: it falls as the difference grows and is 0 at the
// observed one.
double tango_score(const PairedCounts& counts, double difference) {
  const auto n = static_cast<double>(counts.pairs());
  const auto b = static_cast<double>(counts.only_a);
  const auto c = static_cast<double>(counts.only_b);
  // The likelihood's maximum of P(only b) under that difference: the root of A q^2 + B q + C.
  const double A = 2 * n;
  const double B = -b - c + (2 * n - b + c) * difference;
  const double C = -c * difference * (1 - difference);
  const double q = (std::sqrt(std::max(0.0, B * B - 4 * A * C)) - B) / (2 * A);
  const double variance = n * (2 * q + difference * (1 - difference));
  const double gap = b - c - n * difference;
  if (variance <= 0) return gap == 0 ? 0 : std::copysign(HUGE_VAL, gap);
  return gap / std::sqrt(variance);
}

// The difference where the score equals `target`, between `low` (score above) and `high` (score
// below).
double tango_limit(const PairedCounts& counts, double target, double low, double high) {
  constexpr int kHalvings = 60;  // past the precision of a double on [-1, 1]
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = low + (high - low) / 2;
    (tango_score(counts, middle) > target ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace

Interval wider(Interval a, Interval b) {
  return b.width() > a.width() ? b : a;
}

Interval wilson_interval(std::int64_t successes, std::int64_t trials, double confidence) {
  SLUICE_ASSERT(0 <= successes && successes <= trials, "a share needs 0 <= successes <= trials");
  if (trials == 0) return {0, 1};
  const double z = two_sided_z(confidence);
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(successes) / n;
  const double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  // At the ends the formula is 0 and 1 but for rounding.
  return {successes == 0 ? 0 : std::max(0.0, centre - half),
          successes == trials ? 1 : std::min(1.0, centre + half)};
}

Interval tango_interval(const PairedCounts& counts, double confidence) {
  if (counts.pairs() == 0) return {-1, 1};
  const double z = two_sided_z(confidence);
  const double observed =
      static_cast<double>(counts.only_a - counts.only_b) / static_cast<double>(counts.pairs());
  return {tango_limit(counts, z, -1, observed), tango_limit(counts, -z, observed, 1)};
}

double mcnemar_exact_p(const PairedCounts& counts) {
  const std::int64_t discordant = counts.only_a + counts.only_b;
  if (discordant == 0) return 1;
  const boost::math::binomial_distribution<double> coin(static_cast<double>(discordant), 0.5);
  const auto fewer = static_cast<double>(std::min(counts.only_a, counts.only_b));
  return std::min(1.0, 2 * boost::math::cdf(coin, fewer));
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return p_values[i] < p_values[j]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto still_in = static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, still_in * p_values[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

double normal_quantile(double probability) {
  return boost::math::quantile(boost::math::normal_distribution<double>(), probability);
}

double normal_cdf(double x) {
  return boost::math::cdf(boost::math::normal_distribution<double>(), x);
}

double students_t_quantile(double probability, std::int64_t degrees_of_freedom) {
  return boost::math::quantile(students_t(degrees_of_freedom), probability);
}

double students_t_cdf(double x, std::int64_t degrees_of_freedom) {
  return boost::math::cdf(students_t(degrees_of_freedom), x);
}

}  // namespace sluice
