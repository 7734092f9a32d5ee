// How kernels are launched on each GPU: one table, one row per architecture.
// Where in the flow: a plan looks its row up once, by the compute capability it runs on.
// Surprise: the numbers change speed only, never a bit. tests/device/tune.sh measures them anew.
#pragma once

#include <span>
#include <string_view>

namespace sluice {

// No row has more threads per block: kernels may then use up to 128 registers.
inline constexpr int kMaxThreads = 512;
// Of kernels that give each warp a tile.
inline constexpr int kMaxTileThreads = 256;

struct LaunchParameters {
  int threads = 256;         // per block, of kernels that work element by element
  int unit_elements = 8192;  // what a block takes at a time
  int blocks_per_multiprocessor = 8;
  int warps_per_block = 4;  // of the entropy coder: one warp per tile
};

struct LaunchRow {
  int compute_capability = 0;  // 10 * major + minor; 0: the generic row
  std::string_view gpu;        // the one it was chosen for
  LaunchParameters parameters;
};

[[nodiscard]] std::span<const LaunchRow> launch_table();
// The row of this capability, else the nearest lower one of its major version, else the generic.
[[nodiscard]] const LaunchRow& launch_row(int compute_capability);

}  // namespace sluice
