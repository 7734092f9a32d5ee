#include "sim/cli/workers.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace sluice {
namespace {

// Shared by parent and workers: the queue and the first error.
struct Shared {
  explicit Shared(std::size_t num_items) : queue(num_items) {}
  WorkQueue queue;
  std::atomic<bool> failed{false};
  char error_file[256] = {}, error_what[1024] = {}, error_fix[512] = {};
  std::int64_t error_line = 0;  // zero: none
};

void keep(char* to, std::size_t size, const std::string& text) {
  std::strncpy(to, text.c_str(), size - 1);
}

void report(Shared& shared, const Error& error) {
  if (shared.failed.exchange(true)) return;
  keep(shared.error_file, sizeof shared.error_file, error.file);
  keep(shared.error_what, sizeof shared.error_what, error.what);
  keep(shared.error_fix, sizeof shared.error_fix, error.fix);
  shared.error_line = error.line.value_or(0);
  shared.queue.stop();
}

// Memory that stays shared across fork().
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t num_items) {
    void* at =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED) shared_ = new (at) Shared(num_items);
  }
  ~SharedMemory() {
    if (shared_ == nullptr) return;
    shared_->~Shared();
    ::munmap(shared_, sizeof(Shared));
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  [[nodiscard]] Shared* get() const { return shared_; }

 private:
  Shared* shared_ = nullptr;
};

Error kept_error(const Shared& shared) {
  Error error = error_in(shared.error_file, shared.error_what, shared.error_fix);
  if (shared.error_line > 0) error.line = shared.error_line;
  return error;
}

// An exception must not leave a worker: it would go on as if it were the parent.
Status guarded(const std::function<Status(WorkQueue&)>& work, WorkQueue& queue) {
  try {
    return work(queue);
  } catch (const std::bad_alloc&) {
    return error_in("", "not enough memory", "ask for fewer or smaller loads, or fewer --jobs");
  } catch (const std::exception& e) {
    return error_in("", e.what(), "this value cannot be computed with, use smaller sizes or times");
  }
}

[[noreturn]] void be_worker(pid_t parent, Shared& shared,
                            const std::function<Status(WorkQueue&)>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would read the results of an orphan
  if (::getppid() != parent) ::_exit(1);
  const Status done = guarded(work, shared.queue);
  if (!done) report(shared, done.error());
  std::fflush(nullptr);
  ::_exit(done ? 0 : 1);
}

void show_progress(std::size_t done, std::size_t all) {
  constexpr std::size_t kWidth = 40;
  const std::size_t filled = all == 0 ? kWidth : done * kWidth / all;
  fmt::print(stderr, "\r[{}{}] {}/{} runs", std::string(filled, '#'),
             std::string(kWidth - filled, '.'), done, all);
  std::fflush(stderr);
}

// Waits for all workers. Returns whether one of them was killed by a signal or left by itself.
bool wait_for(std::vector<pid_t> workers, Shared& shared, std::size_t num_items) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  bool killed = false;
  while (!workers.empty()) {
    std::erase_if(workers, [&](pid_t worker) {
      int status = 0;
      if (::waitpid(worker, &status, WNOHANG) != worker) return false;
      killed = killed || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
      return true;
    });
    if (terminal) show_progress(shared.queue.num_begun(), num_items);
    if (!workers.empty())
      std::this_thread::sleep_for(std::chrono::milliseconds{terminal ? 100 : 10});
  }
  if (terminal) fmt::print(stderr, "\n");
  return killed;
}

}  // namespace

Status run_workers(int jobs, std::size_t num_items, const std::function<Status(WorkQueue&)>& work) {
  if (num_items == 0) return {};
  if (jobs == 0) {
    WorkQueue queue(num_items);
    return guarded(work, queue);
  }
  const SharedMemory memory(num_items);
  if (memory.get() == nullptr)
    return error_in("", "no shared memory for the workers", "free some memory");
  Shared& shared = *memory.get();
  std::fflush(nullptr);
  std::vector<pid_t> workers;
  const auto num_workers = std::min<std::size_t>(static_cast<std::size_t>(jobs), num_items);
  const pid_t parent = ::getpid();
  for (std::size_t i = 0; i < num_workers; ++i) {
    const pid_t child = ::fork();
    if (child == 0) be_worker(parent, shared, work);
    if (child > 0) workers.push_back(child);
  }
  if (workers.empty())
    return error_in("--jobs", "no worker process could be started", "ask for fewer");
  const bool killed = wait_for(std::move(workers), shared, num_items);
  if (shared.failed) return kept_error(shared);
  if (killed)
    return error_in("", "a worker process was killed",
                    "start the command again: it resumes what is missing");
  return {};
}

}  // namespace sluice
