// How late things were: a histogram of durations, exact to 1/16 of their size.
// Where in the flow: filled by each direction of an emulated link, read into LinkHealth.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"

namespace sluice {

class LatenessHistogram {
 public:
  // Below zero counts as zero.
  void add(Duration lateness);
  void add(const LatenessHistogram& other);
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] Duration max() const { return max_; }
  // At least the share `q` (0 .. 1) was no later than this; zero of an empty one.
  [[nodiscard]] Duration quantile(double q) const;

 private:
  static constexpr int kStepBits = 4;  // sixteen steps to each power of two
  static constexpr std::size_t kNumBuckets = (64 - kStepBits) << kStepBits;
  [[nodiscard]] static std::size_t bucket_of(std::uint64_t ns);
  [[nodiscard]] static std::uint64_t largest_in(std::size_t bucket);

  std::array<std::int64_t, kNumBuckets> buckets_{};
  std::int64_t count_ = 0;
  Duration max_{};
};

}  // namespace sluice
