// Which GPU there is, how kernels are launched on it, and what a machine without one hears.
#include "codec/device/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "codec/device/registry.h"
#include "tests/simt/include/cuda_runtime.h"

namespace sluice {
namespace {

TEST(Gpu, ANameACapabilityAndARowOfTheTableAreFound) {
  const auto gpu = find_gpu();
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->name, "host SIMT layer");
  EXPECT_EQ(gpu->compute_capability, 80);
  EXPECT_EQ(gpu->target().num_multiprocessors, 4);
  EXPECT_EQ(gpu->target(16).num_multiprocessors, 4);
  EXPECT_EQ(gpu->target(1).num_multiprocessors, 1);
}

TEST(Gpu, AMachineWithoutOneIsToldSo) {
  simt::set_device({.count = 0});
  const auto gpu = find_gpu();
  simt::set_device({});
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.error().to_line(),
            "error: no GPU here: no CUDA-capable device is detected; use a machine with an NVIDIA "
            "GPU, or the "
            "CPU's backends");
}

TEST(Gpu, ACodecWithoutACudaBackendIsNamed) {
  const auto codec = find_device_codec("gzip");
  ASSERT_FALSE(codec);
  EXPECT_EQ(codec.error().what, "codec `gzip` has no CUDA backend");
}

// A Jetson (8.7) takes the A40's row, an unknown generation the generic one.
TEST(LaunchTable, AnUnknownGpuTakesTheNearestOlderOneOfItsGeneration) {
  EXPECT_EQ(launch_row(80).gpu, "A100");
  EXPECT_EQ(launch_row(87).compute_capability, 86);
  EXPECT_EQ(launch_row(103).compute_capability, 100);
  EXPECT_EQ(launch_row(70).gpu, "generic");
  EXPECT_EQ(launch_row(200).gpu, "generic");
}

TEST(LaunchTable, EveryRowIsOneThatEveryKernelCanTake) {
  std::set<int> seen;
  for (const LaunchRow& row : launch_table()) {
    SCOPED_TRACE(row.gpu);
    EXPECT_TRUE(seen.insert(row.compute_capability).second);
    EXPECT_EQ(row.parameters.threads % 32, 0);
    EXPECT_LE(row.parameters.threads, kMaxThreads);
    EXPECT_LE(32 * row.parameters.warps_per_block, kMaxTileThreads);
    EXPECT_GE(row.parameters.warps_per_block, 1);
    EXPECT_GE(row.parameters.unit_elements, 1);
    EXPECT_GE(row.parameters.blocks_per_multiprocessor, 1);
  }
}

}  // namespace
}  // namespace sluice
