#include "traces/generators/dwell.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

double mean_ns(const DwellTime& time) {
  return static_cast<double>(to_ns(time.mean));
}

// A stay of at least a nanosecond; no trace is long enough to show more than kMaxTraceLength of it.
Duration as_stay(double ns) {
  const double shown = std::clamp(ns, 1.0, static_cast<double>(to_ns(kMaxTraceLength)));
  return nanoseconds(static_cast<std::int64_t>(std::llround(shown)));
}

}  // namespace

Duration draw_stay(const DwellTime& time, RandomStream& random) {
  if (time.law == DwellLaw::kFixed) return time.mean;
  return as_stay(random.exponential(mean_ns(time)));
}

Duration draw_rest(const DwellTime& time, RandomStream& random) {
  if (time.law == DwellLaw::kExponential) return draw_stay(time, random);
  return as_stay(mean_ns(time) * (1 - random.uniform()));
}

std::size_t draw_index(const std::vector<double>& weights, double total, RandomStream& random) {
  double left = random.uniform() * total;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    chosen = i;
    left -= weights[i];
    if (left < 0) break;
  }
  return chosen;
}

Turns::Turns(std::vector<DwellTime> states, RandomStream& random) : states_(std::move(states)) {
  std::vector<double> weights;
  double total = 0;
  for (const DwellTime& state : states_) {
    weights.push_back(mean_ns(state));
    total += weights.back();
  }
  state_ = draw_index(weights, total, random);
  left_ = draw_rest(states_[state_], random);
}

void Turns::enter_next(RandomStream& random) {
  do {
    state_ = (state_ + 1) % states_.size();
  } while (states_[state_].mean == Duration::zero());
  left_ = draw_stay(states_[state_], random);
}

void Turns::advance(Duration time, RandomStream& random) {
  while (time >= left_) {
    time -= left_;
    enter_next(random);
  }
  left_ -= time;
}

}  // namespace sluice
