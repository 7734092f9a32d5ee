// A clock that jumps from callback to callback: simulated time, no waiting.
// Where in the flow: under the fluid network tier; the ns-3 tiers bring ns-3's own scheduler
// instead.
// Surprise: a timer costs no memory allocation while its callback captures 16 bytes or less.
#pragma once

#include <vector>

#include "base/clock.h"

namespace sluice {

class SimClock final : public RunnableClock {
 public:
  SimClock();
  [[nodiscard]] Instant now() const override { return now_; }
  TimerId schedule(Instant at, std::function<void()> callback) override;
  void cancel(TimerId id) override;
  std::uint64_t run(Instant until = Instant::max()) override;
  void stop() override { stopped_ = true; }

 private:
  // Where a callback waits; used again by later timers. A TimerId is slot and generation.
  struct Slot {
    std::function<void()> callback;
    std::uint64_t generation = 0;
  };
  struct Entry {
    Instant at;
    std::uint64_t sequence;
    TimerId id;
  };
  static constexpr int kSlotBits = 24;  // at most 16 million timers at once

  // A heap of small entries beside the callbacks: cancelling frees the slot, the entry is skipped
  // when it comes up, or swept out once such entries are the majority.
  static bool later(const Entry& a, const Entry& b) {
    return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
  }
  void push(Instant at, TimerId id);
  [[nodiscard]] Slot& slot_of(TimerId id);
  [[nodiscard]] bool is_waiting(TimerId id);
  std::function<void()> take(TimerId id);
  void sweep();

  Instant now_ = kRunStart;
  std::uint64_t next_sequence_ = 1;
  bool stopped_ = false;
  std::vector<Entry> heap_;
  std::size_t num_cancelled_ = 0;  // of the heap's entries
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
};

}  // namespace sluice
