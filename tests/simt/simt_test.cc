// The SIMT layer itself: that it runs what CUDA would, and that it cannot be passed by a kernel
// with a missing barrier, a wrong lane, or threads that part ways.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/simt/include/cuda_runtime.h"

namespace sluice::simt {

constexpr unsigned kAllLanes = 0xFFFFFFFFU;

// 64 threads turn 64 numbers round through shared memory.
__global__ void reverse_numbers(int* numbers) {
  __shared__ int turned[64];
  turned[63 - threadIdx.x] = numbers[threadIdx.x];
  __syncthreads();
  numbers[threadIdx.x] = turned[threadIdx.x];
}
// The same with its barrier left out.
__global__ void reverse_without_barrier(int* numbers) {
  __shared__ int turned[64];
  turned[63 - threadIdx.x] = numbers[threadIdx.x];
  numbers[threadIdx.x] = turned[threadIdx.x];
}
// Rotates a warp's numbers by one; `step` is 1, or wrong.
__global__ void rotate_warp(int* numbers, int step) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  numbers[threadIdx.x] = __shfl_sync(kAllLanes, numbers[threadIdx.x], (lane + step) % 32);
}
__global__ void half_the_block_waits(int*) {
  if (threadIdx.x < 32) __syncthreads();
}
__global__ void two_places_to_wait(int*) {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}
__global__ void lane_five_is_missing(int* numbers) {
  if (threadIdx.x != 5) numbers[threadIdx.x] = __any_sync(kAllLanes, 1);
}
__global__ void lane_outside_its_mask(int* numbers) {
  numbers[threadIdx.x] = static_cast<int>(__ballot_sync(0xFFFFFFFEU, 1));
}
__global__ void vote(unsigned* results) {
  const unsigned lane = threadIdx.x;
  const unsigned odd = __ballot_sync(kAllLanes, lane % 2 == 1);
  const int any = __any_sync(kAllLanes, lane == 31);
  const int all = __all_sync(kAllLanes, lane != 31);
  const unsigned up = __shfl_up_sync(kAllLanes, lane, 1);
  const unsigned down = __shfl_down_sync(kAllLanes, lane, 1);
  const unsigned across = __shfl_xor_sync(kAllLanes, lane, 16);
  if (lane == 0) atomicAdd(&results[0], odd);
  if (lane == 0) atomicOr(&results[1], static_cast<unsigned>(any));
  if (lane == 0) atomicMax(&results[2], static_cast<unsigned>(all));
  atomicAdd(&results[3], up + 100 * down + 10'000 * across);
}
__global__ void past_the_shared_memory(int* numbers) {
  numbers[0] = static_cast<int*>(simt_dynamic_shared())[4];
}

namespace {

// Runs `kernel` on 0, 1, 2, … under the schedule and gives the numbers after it.
template <typename Number, typename... Parameters>
std::vector<Number> run(unsigned threads, void (*kernel)(Number*, Parameters...),
                        const Schedule& schedule, Parameters... parameters) {
  set_schedule(schedule);
  std::vector<Number> numbers(threads);
  for (unsigned i = 0; i < threads; ++i) numbers[i] = static_cast<Number>(i);
  cudaLaunchConfig_t config;
  EXPECT_EQ(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking), cudaSuccess);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = 16;
  EXPECT_EQ(cudaLaunchKernelEx(&config, kernel, numbers.data(), parameters...), cudaSuccess);
  (void)cudaStreamSynchronize(config.stream);
  EXPECT_EQ(cudaStreamDestroy(config.stream), cudaSuccess);
  set_schedule({});
  return numbers;
}

const Schedule kSchedules[] = {
    {Order::kForward, 1}, {Order::kReverse, 1}, {Order::kRandom, 1}, {Order::kRandom, 2}};

std::vector<int> reversed_64() {
  std::vector<int> numbers;
  for (int i = 63; i >= 0; --i) numbers.push_back(i);
  return numbers;
}

TEST(Simt, ABarrierMakesTheOrderOfThreadsInvisible) {
  for (const Schedule& schedule : kSchedules) {
    EXPECT_EQ(run(64, reverse_numbers, schedule), reversed_64());
  }
  EXPECT_EQ(take_fault(), "");
}

TEST(Simt, AMissingBarrierGivesAWrongResultUnderEveryOrder) {
  for (const Schedule& schedule : kSchedules) {
    EXPECT_NE(run(64, reverse_without_barrier, schedule), reversed_64());
  }
}

TEST(Simt, AWrongLaneIndexGivesAWrongResult) {
  std::vector<int> rotated;
  for (int i = 0; i < 32; ++i) rotated.push_back((i + 1) % 32);
  for (const Schedule& schedule : kSchedules) {
    EXPECT_EQ(run(32, rotate_warp, schedule, 1), rotated);
    EXPECT_NE(run(32, rotate_warp, schedule, 2), rotated);
  }
}

TEST(Simt, ABarrierThatHalfTheBlockReachesIsAFault) {
  run(64, half_the_block_waits, {});
  EXPECT_EQ(take_fault(),
            "kernel sluice::simt::half_the_block_waits, block 0: threads 0-31 wait in "
            "__syncthreads at simt_test.cc:33, threads 32-63 have ended");
}

TEST(Simt, TwoBarriersInTwoPlacesAreAFault) {
  run(64, two_places_to_wait, {});
  EXPECT_THAT(take_fault(),
              testing::HasSubstr("threads 0-31 wait in __syncthreads at simt_test.cc:37, "
                                 "threads 32-63 wait in __syncthreads at simt_test.cc:39"));
}

TEST(Simt, ACollectiveWithALaneMissingIsAFault) {
  run(32, lane_five_is_missing, {});
  EXPECT_THAT(take_fault(),
              testing::HasSubstr("threads 5-5 have ended, threads 6-31 wait in __any_sync at "
                                 "simt_test.cc:43 for the lanes 0xffffffff"));
}

TEST(Simt, ALaneOutsideTheMaskItNamesIsAFault) {
  run(32, lane_outside_its_mask, {});
  EXPECT_THAT(take_fault(), testing::HasSubstr("threads 0-0 wait in __ballot_sync"));
}

TEST(Simt, ALaunchThatNoGpuTakesIsAFault) {
  run(1025, reverse_numbers, {});
  EXPECT_THAT(take_fault(), testing::HasSubstr("no GPU runs 1 blocks of 1025 threads"));
}

// Lanes 0-31: odd ones 0xaaaaaaaa; up sums 0+0+1+...+30 = 465, down 1+...+31+31 = 527, across 496.
TEST(Simt, VotesShufflesAndAtomicsGiveWhatTheGuideSays) {
  for (const Schedule& schedule : kSchedules) {
    auto results = run(32, vote, schedule);
    EXPECT_EQ(results[0], 0xAAAAAAAAU);
    EXPECT_EQ(results[1], 1U);
    EXPECT_EQ(results[2], 2U);  // what was there is larger than the vote's 0
    EXPECT_EQ(results[3], 3U + 465U + 100U * 527U + 10'000U * 496U);
  }
}

TEST(Simt, BitFunctionsGiveWhatTheGuideSays) {
  EXPECT_EQ(__popc(0xF0F0U), 8);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__brev(1U), 0x80000000U);
  EXPECT_EQ(__umulhi(0x80000000U, 6U), 3U);
  EXPECT_EQ(__uint_as_float(0x3FC00000U), 1.5F);
  EXPECT_EQ(__dp2a_lo(0x0003'FFFE, 0x0605'04FB, 100), 100 + -2 * -5 + 3 * 4);
  EXPECT_EQ(__dp2a_hi(0x0003'FFFE, 0x06FB'0000, 100), 100 + -2 * -5 + 3 * 6);
  EXPECT_EQ(__byte_perm(0x33221100U, 0x77665544U, 0x7410U), 0x77441100U);
}

TEST(Simt, WorkOnAStreamRunsWhenSomebodyWaits) {
  cudaStream_t first, second;
  cudaEvent_t event;
  ASSERT_EQ(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDefault), cudaSuccess);
  int number = 1;
  ASSERT_EQ(cudaMemsetAsync(&number, 0, sizeof number, first), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, first), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
  EXPECT_EQ(number, 1);
  EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);  // which waits for the first
  EXPECT_EQ(number, 0);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(first), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(second), cudaSuccess);
}

#if defined(__SANITIZE_ADDRESS__)
TEST(SimtDeathTest, ReadingPastTheDynamicSharedMemoryIsFound) {
  EXPECT_DEATH(run(1, past_the_shared_memory, {}), "use-after-poison");
}

TEST(SimtDeathTest, AHostThatReadsDeviceMemoryIsFound) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
  EXPECT_DEATH((void)*static_cast<volatile int*>(memory), "use-after-poison");
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}
#endif

}  // namespace
}  // namespace sluice::simt
