#include "tests/simt/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tests/simt/collectives.h"
#include "tests/simt/fiber.h"
#include "tests/simt/include/cuda_runtime.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

// Where the linker put static shared memory; null without any.
extern "C" {
extern std::byte __start_simt_shared[] __attribute__((weak));
extern std::byte __stop_simt_shared[] __attribute__((weak));
}

namespace sluice::simt {
namespace {

enum class State : std::uint8_t { kReady, kAtBlockBarrier, kAtCollective, kEnded };

struct Thread {
  ThreadFiber fiber;
  State state = State::kEnded;
  Place place;  // the call it waits in
  WarpRequest request;
  std::uint64_t answer = 0;
};

Schedule schedule;
RandomStream order_random(1);
std::string first_fault;

Seed sown_seed = Seed::kNone;
Place sown_place;
std::vector<SeenCall> calls;

alignas(16) std::array<std::byte, kMaxDynamicSharedBytes> shared_memory;

bool is_same(const Place& a, const Place& b) {
  return a.at.line() == b.at.line() && a.at.column() == b.at.column() &&
         std::string_view(a.at.file_name()) == b.at.file_name();
}

// Notes the call; the fault that is sown there.
Seed seed_at(const Place& place, bool is_barrier) {
  const auto same = [&](const SeenCall& call) { return is_same(call.place, place); };
  if (std::none_of(calls.begin(), calls.end(), same)) calls.push_back({place, is_barrier});
  return sown_seed != Seed::kNone && is_same(place, sown_place) ? sown_seed : Seed::kNone;
}

template <typename Index>
void put_in_order(std::vector<Index>& indices) {
  std::iota(indices.begin(), indices.end(), Index{0});
  if (schedule.order == Order::kReverse) std::reverse(indices.begin(), indices.end());
  if (schedule.order != Order::kRandom) return;
  for (std::size_t i = indices.size(); i > 1; --i) {
    std::swap(indices[i - 1], indices[order_random.below(i)]);
  }
}

class Block {
 public:
  // Runs all threads of block `block_index`; a text when they cannot go on.
  std::string run(const GridShape& shape, std::uint64_t block_index,
                  const std::function<void()>& body);
  [[nodiscard]] Thread& current() { return threads_[current_]; }
  [[nodiscard]] unsigned current_index() const { return current_; }

 private:
  void run_ready_threads();
  bool release_warps();
  bool release_warp(std::span<Thread> warp);
  bool release_block();
  [[nodiscard]] std::string why_stuck() const;

  std::vector<Thread> threads_;
  std::vector<unsigned> order_;
  unsigned num_threads_ = 0, current_ = 0, num_ended_ = 0;
};

Block& the_block() {
  static Block block;
  return block;
}

void Block::run_ready_threads() {
  put_in_order(order_);
  for (const unsigned index : order_) {
    Thread& thread = threads_[index];
    if (thread.state != State::kReady) continue;
    current_ = index;
    ::threadIdx = {index, 0, 0};
    if (!thread.fiber.resume()) {
      thread.state = State::kEnded;
      ++num_ended_;
    }
  }
}

bool Block::release_warp(std::span<Thread> warp) {
  bool released = false;
  for (std::uint32_t asking = 0; asking < warp.size(); ++asking) {
    if (warp[asking].state != State::kAtCollective) continue;
    const WarpRequest request = warp[asking].request;
    // A lane outside its own mask waits for ever, which the block then reports.
    bool complete = (request.mask >> asking & 1U) != 0;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      if ((request.mask >> lane & 1U) == 0) continue;
      complete = complete && lane < warp.size() && warp[lane].state == State::kAtCollective &&
                 warp[lane].request.mask == request.mask && warp[lane].request.kind == request.kind;
    }
    if (!complete) continue;
    std::array<WarpRequest, kWarpLanes> requests;
    for (std::uint32_t lane = 0; lane < warp.size(); ++lane) requests[lane] = warp[lane].request;
    for (std::uint32_t lane = 0; lane < warp.size(); ++lane) {
      if ((request.mask >> lane & 1U) != 0)
        warp[lane].answer = answer_of(requests, warp[lane].request);
    }
    for (std::uint32_t lane = 0; lane < warp.size(); ++lane) {
      if ((request.mask >> lane & 1U) != 0) warp[lane].state = State::kReady;
    }
    released = true;
  }
  return released;
}

bool Block::release_warps() {
  bool released = false;
  for (std::size_t first = 0; first < num_threads_; first += kWarpLanes) {
    const std::size_t lanes = std::min<std::size_t>(kWarpLanes, num_threads_ - first);
    released |= release_warp(std::span(threads_).subspan(first, lanes));
  }
  return released;
}

// Only when all threads of the block stand at it: one that has ended is a fault, although some GPUs
// forgive it.
bool Block::release_block() {
  const auto threads = std::span(threads_).first(num_threads_);
  for (const Thread& thread : threads) {
    if (thread.state != State::kAtBlockBarrier || !is_same(thread.place, threads[0].place))
      return false;
  }
  for (Thread& thread : threads) thread.state = State::kReady;
  return true;
}

// "threads 0-31 wait in __syncthreads at a.cu:12, threads 32-63 have ended".
std::string Block::why_stuck() const {
  const auto doing = [&](const Thread& thread) {
    if (thread.state == State::kEnded) return std::string("have ended");
    const std::string waiting =
        fmt::format("wait in {} at {}:{}", thread.place.call,
                    std::filesystem::path(thread.place.at.file_name()).filename().string(),
                    thread.place.at.line());
    if (thread.state == State::kAtBlockBarrier) return waiting;
    return fmt::format("{} for the lanes {:#010x}", waiting, thread.request.mask);
  };
  std::string text;
  for (unsigned first = 0; first < num_threads_;) {
    unsigned end = first + 1;
    while (end < num_threads_ && doing(threads_[end]) == doing(threads_[first])) ++end;
    text += fmt::format("{}threads {}-{} {}", text.empty() ? "" : ", ", first, end - 1,
                        doing(threads_[first]));
    first = end;
  }
  return text;
}

std::string Block::run(const GridShape& shape, std::uint64_t block_index,
                       const std::function<void()>& body) {
  num_threads_ = shape.threads_per_block;
  num_ended_ = 0;
  if (threads_.size() < num_threads_) threads_ = std::vector<Thread>(num_threads_);
  order_.resize(num_threads_);
  ::blockIdx = {static_cast<unsigned>(block_index), 0, 0};
  for (unsigned i = 0; i < num_threads_; ++i) {
    threads_[i].state = State::kReady;
    threads_[i].fiber.start(body);
  }
  while (num_ended_ < num_threads_) {
    run_ready_threads();
    if (num_ended_ == num_threads_ || release_warps() || release_block()) continue;
    std::string why = why_stuck();
    for (Thread& thread : std::span(threads_).first(num_threads_)) thread.fiber.abandon();
    return why;
  }
  return {};
}

// Noise, so that what no thread of this block wrote differs from block to block.
void fill_with_noise(std::byte* begin, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    begin[i] = static_cast<std::byte>(order_random.next_u64());
}

void prepare_shared_memory(std::size_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(shared_memory.data(), shared_memory.size());
  fill_with_noise(shared_memory.data(), bytes);
  fill_with_noise(__start_simt_shared,
                  static_cast<std::size_t>(__stop_simt_shared - __start_simt_shared));
  ASAN_POISON_MEMORY_REGION(shared_memory.data() + bytes, shared_memory.size() - bytes);
}

bool fail(const std::string& text) {
  if (first_fault.empty()) first_fault = text;
  return false;
}

}  // namespace

void set_schedule(const Schedule& chosen) {
  schedule = chosen;
  order_random = RandomStream(chosen.seed);
}

bool run_grid(const std::string& kernel_name, const GridShape& shape,
              const std::function<void()>& body) {
  if (shape.threads_per_block == 0 || shape.threads_per_block > kMaxThreadsPerBlock ||
      shape.num_blocks == 0 || shape.num_blocks > 0x7FFFFFFFU ||
      shape.dynamic_shared_bytes > kMaxDynamicSharedBytes) {
    return fail(fmt::format("kernel {}: no GPU runs {} blocks of {} threads with {} shared bytes",
                            kernel_name, shape.num_blocks, shape.threads_per_block,
                            shape.dynamic_shared_bytes));
  }
  ::blockDim = {shape.threads_per_block, 1, 1};
  ::gridDim = {static_cast<unsigned>(shape.num_blocks), 1, 1};
  std::vector<std::uint64_t> blocks(shape.num_blocks);
  put_in_order(blocks);
  for (const std::uint64_t block : blocks) {
    prepare_shared_memory(shape.dynamic_shared_bytes);
    const std::string why = the_block().run(shape, block, body);
    if (!why.empty()) return fail(fmt::format("kernel {}, block {}: {}", kernel_name, block, why));
  }
  return true;
}

std::string take_fault() {
  return std::exchange(first_fault, {});
}

void sow(Seed seed, const Place& place) {
  sown_seed = seed;
  sown_place = place;
  calls.clear();
}

std::vector<SeenCall> seen_calls() {
  return calls;
}

void wait_for_block(const Place& place) {
  if (seed_at(place, true) == Seed::kSkippedWait) return;
  Thread& thread = the_block().current();
  thread.state = State::kAtBlockBarrier;
  thread.place = place;
  thread.fiber.wait();
}

std::uint64_t ask_warp(const WarpRequest& request, const Place& place) {
  const Seed seed = seed_at(place, request.kind == Collective::kSyncWarp);
  if (seed == Seed::kSkippedWait) return 0;
  Thread& thread = the_block().current();
  thread.state = State::kAtCollective;
  thread.place = place;
  thread.request = request;
  if (seed == Seed::kWrongLane) thread.request.source_lane = (request.source_lane + 1) % kWarpLanes;
  thread.fiber.wait();
  return seed == Seed::kWrongLane ? put_wrong(request.kind, thread.answer) : thread.answer;
}

unsigned lane_index() {
  return the_block().current_index() % kWarpLanes;
}

std::byte* dynamic_shared_memory() {
  return shared_memory.data();
}

}  // namespace sluice::simt
