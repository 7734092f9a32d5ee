// A clock that jumps from callback to callback: simulated time, no waiting.
// Where in the flow: under the fluid network tier; the ns-3 tiers bring ns-3's own scheduler
// instead.
#pragma once

#include <unordered_map>
#include <vector>

#include "base/clock.h"

namespace sluice {

class SimClock final : public RunnableClock {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  TimerId schedule(Instant at, std::function<void()> callback) override;
  void cancel(TimerId id) override;
  std::uint64_t run(Instant until = Instant::max()) override;
  void stop() override { stopped_ = true; }

 private:
  struct Entry {
    Instant at;
    std::uint64_t sequence;  // also the TimerId
  };
  // A heap of small entries beside a table of callbacks: cancelling removes the callback, the entry
  // is skipped.
  static bool later(const Entry& a, const Entry& b) {
    return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
  }

  Instant now_ = kRunStart;
  std::uint64_t next_sequence_ = 1;
  bool stopped_ = false;
  std::vector<Entry> heap_;
  std::unordered_map<std::uint64_t, std::function<void()>> callbacks_;
};

}  // namespace sluice
