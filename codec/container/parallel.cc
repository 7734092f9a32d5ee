#include "codec/container/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/assert.h"

namespace sluice {
namespace {

// The first failure in the order of the jobs; kept by whoever holds a lower index.
class FirstFailure {
 public:
  [[nodiscard]] bool is_before(std::size_t index) const { return index_ < index; }
  void keep(std::size_t index, Status status, std::exception_ptr exception) {
    const std::scoped_lock lock(mutex_);
    if (index >= index_) return;
    index_ = index;
    status_ = std::move(status);
    exception_ = std::move(exception);
  }
  // After all threads have ended.
  [[nodiscard]] Status result() const {
    if (exception_) std::rethrow_exception(exception_);
    return status_;
  }

 private:
  std::mutex mutex_;
  std::atomic<std::size_t> index_ = SIZE_MAX;
  Status status_;
  std::exception_ptr exception_;
};

}  // namespace

Status for_each_index(std::size_t count, int threads,
                      const std::function<Status(std::size_t)>& job) {
  SLUICE_ASSERT(threads > 0, "no thread to run on");
  std::atomic<std::size_t> next = 0;
  FirstFailure failure;
  const auto work = [&] {
    // Indices are taken in order: whatever stands before a failure has been taken and will end.
    for (std::size_t i = next++; i < count && !failure.is_before(i); i = next++) {
      try {
        if (Status status = job(i); !status) failure.keep(i, std::move(status), nullptr);
      } catch (...) {
        failure.keep(i, {}, std::current_exception());
      }
    }
  };
  {
    std::vector<std::jthread> helpers;  // joined at the end of the block
    const std::size_t useful = std::min(count, static_cast<std::size_t>(threads));
    try {
      for (std::size_t i = 1; i < useful; ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {  // the machine starts no more: those there do it all
    }
    work();
  }
  return failure.result();
}

}  // namespace sluice
