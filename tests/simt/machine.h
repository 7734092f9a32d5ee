// The host SIMT layer's machine: runs a kernel's grid block by block, each thread a fiber.
// Where in the flow: under tests/simt/include/cuda_runtime.h, which gives kernels CUDA's names.
// Surprise: a thread runs until it waits or ends, and the order of threads between two waits is the
// test's choice (Schedule): a missing barrier shows as another result under another order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace sluice::simt {

inline constexpr unsigned kWarpLanes = 32;
inline constexpr unsigned kMaxThreadsPerBlock = 1024;
inline constexpr std::size_t kMaxDynamicSharedBytes =
    99 * 1024;  // sm_86, sm_89 and sm_120 have no more

// In which order the threads of a block run between two waits, and the blocks of a grid.
enum class Order : std::uint8_t { kForward, kReverse, kRandom };
struct Schedule {
  Order order = Order::kForward;
  std::uint64_t seed = 1;  // of kRandom: a new permutation after every wait
};
void set_schedule(const Schedule& schedule);

struct GridShape {
  std::uint64_t num_blocks = 0;  // one-dimensional grids and blocks, as all kernels here are
  unsigned threads_per_block = 0;
  std::size_t dynamic_shared_bytes = 0;
};

// Runs body() once per thread. False after a fault: a barrier or collective that threads cannot
// leave, an oversized launch; take_fault() then says which, with the kernel's name.
bool run_grid(const std::string& kernel_name, const GridShape& shape,
              const std::function<void()>& body);
// The first fault since the last call; empty: none.
[[nodiscard]] std::string take_fault();

// What a lane asks of its warp; the answer comes once every lane of `mask` asks the same.
enum class Collective : std::uint8_t {
  kSyncWarp,
  kShuffle,
  kBallot,
  kAny,
  kAll,
  kReduceAdd,
  kReduceMax,
  kReduceMin,
  kMatchAny
};
struct WarpRequest {
  Collective kind = Collective::kSyncWarp;
  std::uint32_t mask = 0;
  std::uint64_t value = 0;
  unsigned source_lane = 0;  // kShuffle: whose value is read
};

// A call that threads wait in. Two barriers in one kernel are two places.
struct Place {
  const char* call = "";
  std::source_location at;
};

// Faults sown into real kernels, to show that tests reap them: one call does its work wrong.
enum class Seed : std::uint8_t {
  kNone,
  kSkippedWait,  // a __syncthreads() or __syncwarp() that lets threads pass
  kWrongLane     // a shuffle that reads the next lane's value; a vote turned by one lane, or turned
                 // round
};
void sow(Seed seed, const Place& place = {});
// The calls that running threads waited in since the last sow(), in the order of their first run.
struct SeenCall {
  Place place;
  bool is_barrier;  // what kSkippedWait applies to; else kWrongLane does
};
[[nodiscard]] std::vector<SeenCall> seen_calls();

// Called by threads of a running grid.
void wait_for_block(const Place& place);
[[nodiscard]] std::uint64_t ask_warp(const WarpRequest& request, const Place& place);
[[nodiscard]] unsigned lane_index();
// The block's dynamic shared memory: filled with noise when a block starts, poisoned beyond its
// size under the address sanitizer.
[[nodiscard]] std::byte* dynamic_shared_memory();

}  // namespace sluice::simt
