#include "emu/host/lateness.h"

#include <time.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace sluice {
namespace {

constexpr int kSubBuckets = 8;  // of each power of two
constexpr int kSubBits = 3;

// 0..7 as they are, then eight buckets for each power of two.
std::size_t bucket_of(std::int64_t ns) {
  const auto n = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
  if (n < kSubBuckets) return n;
  const int shift = std::bit_width(n) - 1 - kSubBits;
  return static_cast<std::size_t>(shift + 1) * kSubBuckets + ((n >> shift) - kSubBuckets);
}

std::int64_t upper_edge(std::size_t bucket) {
  if (bucket < kSubBuckets) return static_cast<std::int64_t>(bucket);
  const std::size_t shift = bucket / kSubBuckets - 1;
  const std::uint64_t first = (kSubBuckets + bucket % kSubBuckets) << shift;
  return static_cast<std::int64_t>(first + (std::uint64_t{1} << shift) - 1);
}

Duration monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds{now.tv_sec} + nanoseconds(now.tv_nsec);
}

void sleep_until(Duration instant) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(instant);
  const timespec at{.tv_sec = whole.count(), .tv_nsec = to_ns(instant - whole)};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

}  // namespace

void LatenessHistogram::record(Duration lateness) {
  ++buckets_[bucket_of(to_ns(lateness))];
  ++count_;
  max_ = std::max(max_, lateness);
}

void LatenessHistogram::add(const LatenessHistogram& other) {
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

Duration LatenessHistogram::quantile(double q) const {
  const auto rank = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_)));
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size() && count_ > 0; ++i) {
    seen += buckets_[i];
    if (seen >= std::max<std::int64_t>(rank, 1)) return std::min(nanoseconds(upper_edge(i)), max_);
  }
  return max_;
}

TimerLateness::TimerLateness(Duration period) : thread_([this, period] { measure(period); }) {}

TimerLateness::~TimerLateness() {
  stop();
}

const LatenessHistogram& TimerLateness::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  return histogram_;
}

void TimerLateness::measure(Duration period) {
  Duration next = monotonic_now() + period;
  while (!stopping_) {
    sleep_until(next);
    const Duration now = monotonic_now();
    histogram_.record(now - next);
    next += period * ((now - next) / period + 1);
  }
}

}  // namespace sluice
