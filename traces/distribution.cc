#include "traces/distribution.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

struct Share {
  DataRate rate;
  std::int64_t weight = 0;  // ns, or 1 per chunk
};

// One entry per rate, ascending.
std::vector<Share> shares_of(const LinkTrace& trace) {
  std::vector<Share> shares;
  shares.reserve(trace.steps.size());
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const RateStep& step = trace.steps[i];
    const bool timed = trace.clock == TraceClock::kTime;
    shares.push_back({step.rate, timed ? to_ns(step_end(trace, i) - step.start) : 1});
  }
  std::sort(shares.begin(), shares.end(),
            [](const Share& a, const Share& b) { return a.rate < b.rate; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < shares.size(); ++i) {
    if (shares[i].rate == shares[last].rate) {
      shares[last].weight += shares[i].weight;
    } else {
      shares[++last] = shares[i];
    }
  }
  shares.resize(last + 1);
  return shares;
}

// Deviations from the mean first: squares of rates would drown what is small.
double variation(const std::vector<Share>& shares, double total) {
  double mean = 0, square = 0;
  for (const Share& s : shares)
    mean += s.rate.megabits_per_sec() * (static_cast<double>(s.weight) / total);
  for (const Share& s : shares) {
    const double deviation = s.rate.megabits_per_sec() - mean;
    square += deviation * deviation * (static_cast<double>(s.weight) / total);
  }
  return mean > 0 ? std::sqrt(square) / mean : 0;
}

}  // namespace

RateDistribution::RateDistribution(const LinkTrace& trace) {
  const std::vector<Share> shares = shares_of(trace);
  std::int64_t total = 0;
  for (const Share& s : shares) total += s.weight;
  coefficient_of_variation_ = variation(shares, static_cast<double>(total));
  points_.reserve(shares.size());
  std::int64_t passed = 0;
  for (const Share& s : shares) {
    passed += s.weight;
    points_.push_back({s.rate, static_cast<double>(passed) / static_cast<double>(total)});
  }
}

DataRate RateDistribution::quantile(double fraction) const {
  const auto found =
      std::lower_bound(points_.begin(), points_.end() - 1, fraction,
                       [](const Point& point, double f) { return point.fraction < f; });
  return found->rate;
}

double RateDistribution::zero_fraction() const {
  return points_.front().rate == DataRate::zero() ? points_.front().fraction : 0;
}

}  // namespace sluice
