// Worker processes over a shared list of work.
// Surprise: a worker is a fork, so whatever it opens (files, databases) it must open itself, inside
// `work`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"

namespace sluice {

// Hands out 0, 1, ..., num_items - 1, each to one worker; lives in memory that the processes share.
class WorkQueue {
 public:
  explicit WorkQueue(std::size_t num_items) : num_items_(num_items) {}
  [[nodiscard]] std::optional<std::size_t> next() {
    const std::size_t index = next_.fetch_add(1);
    if (index >= num_items_) return std::nullopt;
    return index;
  }
  [[nodiscard]] std::size_t num_begun() const { return std::min(next_.load(), num_items_); }
  // After an error no more work is handed out.
  void stop() { next_.store(num_items_); }

 private:
  std::size_t num_items_;
  std::atomic<std::size_t> next_{0};
};

// Runs `work` in `jobs` processes until the queue is empty; with 0 in this one, for work with
// threads or memory that a fork would not have. A bar on stderr when that is a terminal. The first
// error of a worker is returned; a worker that was killed is an error too.
[[nodiscard]] Status run_workers(int jobs, std::size_t num_items,
                                 const std::function<Status(WorkQueue&)>& work);

}  // namespace sluice
