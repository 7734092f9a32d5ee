// How late things happen: a histogram of lateness, and a thread that measures the host's timers.
// Where in the flow: the health of a run; a host that is too late spoils the run, not the policy.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "base/units.h"

namespace sluice {

// Buckets of an eighth of a power of two, from 1 ns to 292 years.
class LatenessHistogram {
 public:
  void record(Duration lateness);  // below zero counts as zero
  void add(const LatenessHistogram& other);
  [[nodiscard]] std::int64_t count() const { return count_; }
  // The upper edge of the bucket that holds the share `q` (0..1), at most max(); zero when empty.
  [[nodiscard]] Duration quantile(double q) const;
  [[nodiscard]] Duration max() const { return max_; }

 private:
  std::array<std::int64_t, 64 * 8> buckets_{};
  std::int64_t count_ = 0;
  Duration max_{};
};

// From construction to stop(), sleeps to instants that are `period` apart and records how late it
// woke up. Instants that were slept through count once.
class TimerLateness {
 public:
  explicit TimerLateness(Duration period = std::chrono::milliseconds{5});
  ~TimerLateness();
  TimerLateness(const TimerLateness&) = delete;
  TimerLateness& operator=(const TimerLateness&) = delete;
  // Ends the thread; what it recorded.
  const LatenessHistogram& stop();

 private:
  void measure(Duration period);

  LatenessHistogram histogram_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace sluice
