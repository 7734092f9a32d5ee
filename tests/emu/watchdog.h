// Ends the program, with words, when something that must end does not: a thread that hangs cannot
// be taken back, and what it holds is still in use.
#pragma once

#include <fmt/format.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "base/units.h"

namespace sluice {

class Watchdog {
 public:
  Watchdog(std::string what, Duration bound)
      : thread_([this, what = std::move(what), bound] { wait(what, bound); }) {}
  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void wait(const std::string& what, Duration bound) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, bound, [this] { return over_; })) return;
    fmt::print(stderr, "{} hangs\n", what);
    std::abort();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;  // last: it uses all above
};

}  // namespace sluice
