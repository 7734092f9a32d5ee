#include "emu/link/engine/lateness.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sluice {

// Below 16 each value has a bucket; above, the leading bit says the row and the four bits after it
// the step.
std::size_t LatenessHistogram::bucket_of(std::uint64_t ns) {
  if (ns < (1U << kStepBits)) return ns;
  const auto row = static_cast<std::size_t>(std::bit_width(ns)) - 1 - kStepBits;
  return (row << kStepBits) + (ns >> row);
}

std::uint64_t LatenessHistogram::largest_in(std::size_t bucket) {
  if (bucket < (1U << kStepBits)) return bucket;
  const std::size_t row = (bucket >> kStepBits) - 1;
  const std::uint64_t lead = (bucket & ((1U << kStepBits) - 1)) + (1U << kStepBits);
  return ((lead + 1) << row) - 1;
}

void LatenessHistogram::add(Duration lateness) {
  const Duration late = std::max(Duration::zero(), lateness);
  ++buckets_[bucket_of(static_cast<std::uint64_t>(to_ns(late)))];
  ++count_;
  max_ = std::max(max_, late);
}

void LatenessHistogram::add(const LatenessHistogram& other) {
  for (std::size_t i = 0; i < kNumBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

Duration LatenessHistogram::quantile(double q) const {
  const auto wanted = std::max(
      std::int64_t{1}, static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_))));
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < kNumBuckets; ++i) {
    seen += buckets_[i];
    if (seen >= wanted)
      return std::min(max_, nanoseconds(static_cast<std::int64_t>(largest_in(i))));
  }
  return max_;
}

}  // namespace sluice
