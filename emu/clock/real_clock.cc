#include "emu/clock/real_clock.h"

#include <algorithm>

#include <boost/asio/post.hpp>

#include "base/assert.h"

namespace sluice {

RealClock::RealClock() : alarm_(io_) {}

Instant RealClock::now() const {
  if (!began_at_) return kRunStart;
  return kRunStart +
         std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - *began_at_);
}

TimerId RealClock::schedule(Instant at, std::function<void()> callback) {
  SLUICE_ASSERT(callback, "a timer without a callback");
  const Instant current = now();
  const TimerId id{next_sequence_++};
  const Instant due = std::max(at, current);
  timers_.emplace(Key{due, id.value}, Timer{std::move(callback), due > current});
  due_.emplace(id.value, due);
  return id;
}

void RealClock::cancel(TimerId id) {
  const auto found = due_.find(id.value);
  if (found == due_.end()) return;
  timers_.erase(Key{found->second, id.value});
  due_.erase(found);
}

void RealClock::post(std::function<void()> callback) {
  boost::asio::post(io_, [this, callback = std::move(callback)] {
    ++num_posted_;
    callback();
  });
}

// What is due when it begins; what callbacks schedule for now waits for the next turn, so that
// sockets are not starved.
std::uint64_t RealClock::run_due_timers() {
  const Instant current = now();
  const std::uint64_t scheduled_until = next_sequence_;
  std::uint64_t num_run = 0;
  while (!stopped_ && !timers_.empty()) {
    const auto next = timers_.begin();
    const auto [due, sequence] = next->first;
    if (due > current || sequence >= scheduled_until) break;
    const Timer timer = std::move(next->second);
    timers_.erase(next);
    due_.erase(sequence);
    if (timer.waits) lateness_.record(now() - due);
    timer.callback();
    ++num_run;
  }
  return num_run;
}

void RealClock::wake_at(Instant at) {
  if (alarm_at_ && *alarm_at_ <= at) return;  // wakes early enough, and then looks again
  alarm_at_ = at;
  alarm_.expires_at(*began_at_ + (at - kRunStart));
  alarm_.async_wait([this, at](const boost::system::error_code& error) {
    if (!error && alarm_at_ == at) alarm_at_.reset();
  });
}

std::uint64_t RealClock::run(Instant until) {
  if (!began_at_) began_at_ = std::chrono::steady_clock::now();
  stopped_ = false;
  num_posted_ = 0;
  std::uint64_t num_run = 0;
  while (!stopped_) {
    num_run += run_due_timers();
    if (stopped_ || now() > until) break;
    const bool something_is_due = !timers_.empty() && timers_.begin()->first.first <= now();
    if (io_.stopped()) io_.restart();
    if (something_is_due) {
      io_.poll_one();
      continue;
    }
    if (timers_.empty()) {
      alarm_.cancel();
      alarm_at_.reset();
    } else {
      wake_at(std::min(timers_.begin()->first.first, until));
    }
    if (timers_.empty() && until != Instant::max()) {
      // Sockets may wait longer than until.
      if (io_.run_one_until(*began_at_ + (until - kRunStart)) == 0 && io_.stopped()) break;
    } else if (io_.run_one() == 0) {
      break;
    }
  }
  return num_run + num_posted_;
}

}  // namespace sluice
