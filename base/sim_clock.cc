#include "base/sim_clock.h"

#include <algorithm>

#include "base/assert.h"

namespace sluice {
namespace {

constexpr std::size_t kSweepAt = 64;      // fewer cancelled entries are not worth the walk
constexpr std::size_t kTimersUsual = 16;  // at once, of a load alone

}  // namespace

// A clock may live for one load: growing step by step would cost more than its timers.
SimClock::SimClock() {
  heap_.reserve(kTimersUsual);
  slots_.reserve(kTimersUsual);
  free_slots_.reserve(kTimersUsual);
}

SimClock::Slot& SimClock::slot_of(TimerId id) {
  return slots_[id.value & ((std::uint64_t{1} << kSlotBits) - 1)];
}

bool SimClock::is_waiting(TimerId id) {
  if (id.value == 0) return false;  // no timer at all
  const Slot& slot = slot_of(id);
  return slot.callback && slot.generation == id.value >> kSlotBits;
}

TimerId SimClock::schedule(Instant at, std::function<void()> callback) {
  SLUICE_ASSERT(callback, "a timer without a callback");
  if (free_slots_.empty()) {
    SLUICE_ASSERT(slots_.size() < (std::size_t{1} << kSlotBits), "too many timers at once");
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[index];
  const TimerId id{(++slot.generation << kSlotBits) | index};
  push(std::max(at, now_), id);
  slot.callback.swap(callback);
  return id;
}

// As std::push_heap, which would write the entry and read it back at once; waiting for that takes
// longer than all the rest. Entries of one instant stay behind those that were there before.
void SimClock::push(Instant at, TimerId id) {
  std::size_t hole = heap_.size();
  heap_.emplace_back();
  for (; hole > 0 && heap_[(hole - 1) / 2].at > at; hole = (hole - 1) / 2)
    heap_[hole] = heap_[(hole - 1) / 2];
  Entry& entry = heap_[hole];
  entry.at = at;
  entry.sequence = next_sequence_++;
  entry.id = id;
}

std::function<void()> SimClock::take(TimerId id) {
  Slot& slot = slot_of(id);
  free_slots_.push_back(static_cast<std::uint32_t>(&slot - slots_.data()));
  std::function<void()> callback;
  callback.swap(slot.callback);
  return callback;
}

void SimClock::cancel(TimerId id) {
  if (!is_waiting(id)) return;
  take(id);
  ++num_cancelled_;
  if (num_cancelled_ >= kSweepAt && num_cancelled_ * 2 > heap_.size()) sweep();
}

void SimClock::sweep() {
  std::erase_if(heap_, [this](const Entry& entry) { return !is_waiting(entry.id); });
  std::make_heap(heap_.begin(), heap_.end(), later);
  num_cancelled_ = 0;
}

std::uint64_t SimClock::run(Instant until) {
  std::uint64_t num_run = 0;
  stopped_ = false;
  while (!heap_.empty() && !stopped_) {
    const Entry next = heap_.front();
    if (next.at > until) break;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    if (!is_waiting(next.id)) {
      --num_cancelled_;
      continue;
    }
    now_ = next.at;
    take(next.id)();
    ++num_run;
  }
  return num_run;
}

}  // namespace sluice
