// Device side: qualifiers, built-in variables, barriers, warp collectives, atomics, bit functions.
// Where in the flow: included by tests/simt/include/cuda_runtime.h alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/simt/machine.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
// Blocks run one after the other, so one copy is one per block. All copies lie in one section,
// which the machine fills with noise when a block starts.
#define __shared__ static __attribute__((section("simt_shared")))

struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned in_x = 1, unsigned in_y = 1, unsigned in_z = 1) : x(in_x), y(in_y), z(in_z) {}
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline uint2 make_uint2(unsigned x, unsigned y) {
  return {x, y};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}

extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;

// The block's dynamic shared memory; codec/device/shared_memory.h uses it.
inline void* simt_dynamic_shared() {
  return sluice::simt::dynamic_shared_memory();
}

namespace sluice::simt {

// A value of up to eight bytes through a 64-bit slot and back.
template <typename T>
std::uint64_t to_slot(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  std::uint64_t slot = 0;
  std::memcpy(&slot, &value, sizeof value);
  return slot;
}
template <typename T>
T from_slot(std::uint64_t slot) {
  T value;
  std::memcpy(&value, &slot, sizeof value);
  return value;
}

template <typename T>
T shuffle(std::uint32_t mask, T value, unsigned source, const Place& place) {
  return from_slot<T>(ask_warp(
      {.kind = Collective::kShuffle, .mask = mask, .value = to_slot(value), .source_lane = source},
      place));
}

inline std::uint32_t ask(Collective kind, std::uint32_t mask, std::uint64_t value,
                         const Place& place) {
  return static_cast<std::uint32_t>(
      ask_warp({.kind = kind, .mask = mask, .value = value, .source_lane = 0}, place));
}

}  // namespace sluice::simt

using SimtSource = std::source_location;

inline void __syncthreads(SimtSource at = SimtSource::current()) {
  sluice::simt::wait_for_block({"__syncthreads", at});
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFU, SimtSource at = SimtSource::current()) {
  sluice::simt::ask(sluice::simt::Collective::kSyncWarp, mask, 0, {"__syncwarp", at});
}
// Within segments of `width` lanes, as CUDA defines it; a source outside gives the lane's own
// value.
template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              SimtSource at = SimtSource::current()) {
  const auto segment = sluice::simt::lane_index() & ~static_cast<unsigned>(width - 1);
  const auto lane = segment + (static_cast<unsigned>(source) & static_cast<unsigned>(width - 1));
  return sluice::simt::shuffle(mask, value, lane, {"__shfl_sync", at});
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 SimtSource at = SimtSource::current()) {
  const unsigned lane = sluice::simt::lane_index();
  const bool inside = (lane & static_cast<unsigned>(width - 1)) >= delta;
  return sluice::simt::shuffle(mask, value, inside ? lane - delta : lane, {"__shfl_up_sync", at});
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   SimtSource at = SimtSource::current()) {
  const unsigned lane = sluice::simt::lane_index();
  const auto size = static_cast<unsigned>(width);
  const bool inside = (lane & (size - 1)) + delta < size;
  return sluice::simt::shuffle(mask, value, inside ? lane + delta : lane, {"__shfl_down_sync", at});
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  SimtSource at = SimtSource::current()) {
  const unsigned lane = sluice::simt::lane_index();
  const unsigned source = lane ^ static_cast<unsigned>(lane_mask);
  const bool inside = source / static_cast<unsigned>(width) <= lane / static_cast<unsigned>(width);
  return sluice::simt::shuffle(mask, value, inside ? source : lane, {"__shfl_xor_sync", at});
}
inline unsigned __ballot_sync(unsigned mask, int predicate, SimtSource at = SimtSource::current()) {
  return sluice::simt::ask(sluice::simt::Collective::kBallot, mask, predicate != 0,
                           {"__ballot_sync", at});
}
inline int __any_sync(unsigned mask, int predicate, SimtSource at = SimtSource::current()) {
  return static_cast<int>(
      sluice::simt::ask(sluice::simt::Collective::kAny, mask, predicate != 0, {"__any_sync", at}));
}
inline int __all_sync(unsigned mask, int predicate, SimtSource at = SimtSource::current()) {
  return static_cast<int>(
      sluice::simt::ask(sluice::simt::Collective::kAll, mask, predicate != 0, {"__all_sync", at}));
}

// Atomics: a fiber is never stopped in the middle of one. All return the old value.
template <typename T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = static_cast<T>(old + value);
  return old;
}
template <typename T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = std::max(old, value);
  return old;
}
template <typename T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = std::min(old, value);
  return old;
}
template <typename T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = static_cast<T>(old | value);
  return old;
}
template <typename T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = value;
  return old;
}
template <typename T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  const T old = *address;
  if (old == expected) *address = value;
  return old;
}
inline void __threadfence() {}

inline float __uint_as_float(unsigned bits) {
  return std::bit_cast<float>(bits);
}
inline int __popc(unsigned x) {
  return std::popcount(x);
}
inline int __clz(int x) {
  return std::countl_zero(static_cast<unsigned>(x));
}
inline int __ffs(int x) {
  return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1;
}
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1U) << (31 - bit);
  return reversed;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
// c + a's 16-bit halves times two bytes of b, its lower or its higher ones, modulo 2^32.
inline int __dp2a_lo(int a, int b, int c) {
  const int low = static_cast<std::int16_t>(a) * static_cast<std::int8_t>(b);
  const int high = static_cast<std::int16_t>(a >> 16) * static_cast<std::int8_t>(b >> 8);
  return static_cast<int>(static_cast<unsigned>(c) + static_cast<unsigned>(low) +
                          static_cast<unsigned>(high));
}
inline int __dp2a_hi(int a, int b, int c) {
  return __dp2a_lo(a, b >> 16, c);
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= static_cast<unsigned>(bytes >> (8 * (selector >> (4 * i) & 7U)) & 0xFFU) << (8 * i);
  }
  return result;
}
template <typename T>
T __ldg(const T* address) {
  return *address;
}
