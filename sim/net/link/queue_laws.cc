#include "sim/net/link/queue_laws.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice {
namespace {

constexpr std::int64_t kIntervalsRemembered = 16;  // RFC 8289, section 5.5

}  // namespace

CoDelLaw::CoDelLaw(const CoDel& parameters, DataSize packet_max)
    : parameters_(parameters), packet_max_(packet_max) {}

bool CoDelLaw::is_above(Instant now, Duration waited, DataSize behind) {
  if (waited < parameters_.target || behind <= packet_max_) {
    above_until_.reset();
    return false;
  }
  if (!above_until_) above_until_ = now + parameters_.interval;
  return now >= *above_until_;
}

Instant CoDelLaw::next_drop(Instant after) const {
  const double ns =
      static_cast<double>(to_ns(parameters_.interval)) / std::sqrt(static_cast<double>(count_));
  return after + nanoseconds_to_duration(ns);
}

bool CoDelLaw::drops(Instant now, Duration waited, DataSize behind) {
  const bool above = is_above(now, waited, behind);
  if (has_begun_) {
    has_begun_ = false;
    return false;
  }
  const bool is_next = std::exchange(has_dropped_, false);
  if (!is_dropping_) {
    if (!above) return false;
    is_dropping_ = has_begun_ = true;
    const std::int64_t before = count_ - count_before_;
    const bool is_soon = now - next_drop_ < parameters_.interval * kIntervalsRemembered;
    count_ = before > 1 && is_soon ? before : 1;
    count_before_ = count_;
    next_drop_ = next_drop(now);
    return true;
  }
  if (!above) {
    is_dropping_ = false;
    return false;
  }
  if (is_next) next_drop_ = next_drop(next_drop_);
  if (now < next_drop_) return false;
  ++count_;
  return has_dropped_ = true;
}

void CoDelLaw::on_empty() {
  above_until_.reset();
  is_dropping_ = has_begun_ = has_dropped_ = false;
}

RedLaw::RedLaw(const Red& parameters, RandomStream random)
    : parameters_(parameters), random_(random) {}

double RedLaw::probability() const {
  const auto low = static_cast<double>(parameters_.low.bytes());
  const auto high = static_cast<double>(parameters_.high.bytes());
  const double p = parameters_.probability;
  if (average_bytes_ < high) return p * (average_bytes_ - low) / (high - low);
  return std::min(1.0, p + (1 - p) * (average_bytes_ - high) / high);
}

bool RedLaw::takes(DataSize queued, double idle_packets) {
  const double weight = parameters_.weight;
  if (idle_packets > 0) {
    average_bytes_ *= std::pow(1 - weight, idle_packets);
  } else {
    average_bytes_ += weight * (static_cast<double>(queued.bytes()) - average_bytes_);
  }
  if (average_bytes_ < static_cast<double>(parameters_.low.bytes())) {
    num_passed_ = 0;
    return false;
  }
  // Spreads what it takes evenly: by a plain p it would come in clumps (section 7 of the paper).
  const double p = probability(), left = 1 - static_cast<double>(num_passed_) * p;
  const bool takes = p >= left || random_.bernoulli(p / left);
  num_passed_ = takes ? 0 : num_passed_ + 1;
  return takes;
}

}  // namespace sluice
