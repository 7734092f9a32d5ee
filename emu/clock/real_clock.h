// A clock that waits: real time since the run began, timers and sockets on one thread.
// Where in the flow: under the session, the sockets and the decoder of emulation, in the place of
// SimClock.
// Surprises: now() is the run's start until run() is called for the first time; run() also ends
// when neither timers nor sockets nor a Hold are left to wait for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>  // before Boost 1.74's asio, which forgets it

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/clock.h"
#include "emu/host/lateness.h"

namespace sluice {

class RealClock final : public RunnableClock {
 public:
  // Keeps run() going while something outside the clock is under way.
  using Hold = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  RealClock();
  RealClock(const RealClock&) = delete;
  RealClock& operator=(const RealClock&) = delete;

  [[nodiscard]] Instant now() const override;
  TimerId schedule(Instant at, std::function<void()> callback) override;
  void cancel(TimerId id) override;
  std::uint64_t run(Instant until = Instant::max()) override;
  void stop() override { stopped_ = true; }

  // From any thread: runs `callback` on the clock's thread, inside run(); those of one thread in
  // their order.
  void post(std::function<void()> callback);
  [[nodiscard]] Hold hold() { return boost::asio::make_work_guard(io_); }
  // For sockets: their handlers run inside run(), like timers.
  [[nodiscard]] boost::asio::io_context& io() { return io_; }
  // When the run began, on the axis of link schedules; nullopt before run().
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> began_at() const {
    return began_at_;
  }
  // Of timers that were set for a later instant: when they ran, after when they were due.
  [[nodiscard]] const LatenessHistogram& lateness() const { return lateness_; }

 private:
  using Key = std::pair<Instant, std::uint64_t>;  // when, and the how manieth to be scheduled
  struct Timer {
    std::function<void()> callback;
    bool waits = false;  // was set for a later instant
  };
  std::uint64_t run_due_timers();
  void wake_at(Instant at);

  boost::asio::io_context io_{1};
  boost::asio::steady_timer alarm_;
  std::optional<Instant> alarm_at_;
  std::optional<std::chrono::steady_clock::time_point> began_at_;
  std::map<Key, Timer> timers_;
  std::map<std::uint64_t, Instant> due_;  // by TimerId, which is the Key's second half
  std::uint64_t next_sequence_ = 1;
  std::uint64_t num_posted_ = 0;  // posted callbacks that ran
  bool stopped_ = false;
  LatenessHistogram lateness_;
};

}  // namespace sluice
