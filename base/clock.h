// The clock contract: what time it is on this run, and "call me at that time".
// Where in the flow: network and session see only this; the simulators and the emulator each bring
// one.
// Surprise: callbacks of one instant run in the order in which they were scheduled, on every clock.
#pragma once

#include <cstdint>
#include <functional>

#include "base/units.h"

namespace sluice {

// Names a scheduled callback, for cancelling. Never reused within a run.
struct TimerId {
  std::uint64_t value = 0;
  auto operator<=>(const TimerId&) const = default;
};

// Not thread-safe: one run lives on one thread.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  // Calls `callback` at `at`; an instant that has passed means now, after what is already due.
  virtual TimerId schedule(Instant at, std::function<void()> callback) = 0;
  // Cancelling a timer that ran or was cancelled does nothing.
  virtual void cancel(TimerId id) = 0;

  TimerId schedule_in(Duration delay, std::function<void()> callback) {
    return schedule(now() + delay, std::move(callback));
  }
};

// A clock that drives a run of its own: simulated ones jump, real ones wait.
class RunnableClock : public Clock {
 public:
  // Runs callbacks in order of time until none is left or `until` has passed. Returns the number
  // run.
  virtual std::uint64_t run(Instant until = Instant::max()) = 0;
  // Makes run() return after the current callback.
  virtual void stop() = 0;
};

}  // namespace sluice
