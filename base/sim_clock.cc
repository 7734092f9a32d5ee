#include "base/sim_clock.h"

#include <algorithm>
#include <utility>

namespace sluice {

TimerId SimClock::schedule(Instant at, std::function<void()> callback) {
  const std::uint64_t sequence = next_sequence_++;
  heap_.push_back({std::max(at, now_), sequence});
  std::push_heap(heap_.begin(), heap_.end(), later);
  callbacks_.emplace(sequence, std::move(callback));
  return TimerId{sequence};
}

void SimClock::cancel(TimerId id) {
  callbacks_.erase(id.value);
}

std::uint64_t SimClock::run(Instant until) {
  std::uint64_t num_run = 0;
  stopped_ = false;
  while (!heap_.empty() && !stopped_) {
    const Entry next = heap_.front();
    if (next.at > until) break;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    auto found = callbacks_.extract(next.sequence);
    if (found.empty()) continue;  // cancelled
    now_ = next.at;
    found.mapped()();
    ++num_run;
  }
  return num_run;
}

}  // namespace sluice
