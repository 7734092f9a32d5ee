// What kernels of several codecs share: finding their work, reading and writing elements, faults.
// Where in the flow: included by .cu files only.
// Surprise: CUDA's conversions to 16 bits and float16.h's round alike, to nearest with ties to
// even; tests/device runs both over the same values.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "codec/device/run_header.h"
#include "codec/device/tensor.h"

namespace sluice {

inline constexpr unsigned kAllLanes = 0xFFFFFFFFU;

// Jobs lie in order of their first_unit; the one that `unit` belongs to.
template <typename Job>
__device__ const Job& job_of_unit(const Job* jobs, unsigned num_jobs, std::int64_t unit) {
  unsigned low = 0;
  unsigned high = num_jobs;
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    if (jobs[middle].first_unit <= unit) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return jobs[low];
}

__device__ inline void report_fault(RunHeader* header, const Fault& fault) {
  atomicMin(reinterpret_cast<unsigned long long*>(&header->first_fault),
            static_cast<unsigned long long>(pack_fault(fault)));
}

// Two bytes at any address.
__device__ inline std::uint16_t load_u16(const std::byte* address) {
  return static_cast<std::uint16_t>(static_cast<unsigned>(address[0]) |
                                    static_cast<unsigned>(address[1]) << 8);
}
__device__ inline void store_u16(std::byte* address, std::uint16_t value) {
  address[0] = static_cast<std::byte>(value & 0xFF);
  address[1] = static_cast<std::byte>(value >> 8);
}

// 16 bits as a number, and back; `dtype` is not fp32.
__device__ inline float from_bits(Dtype dtype, std::uint16_t bits) {
  return dtype == Dtype::kFp16 ? __half2float(__ushort_as_half(bits))
                               : __bfloat162float(__ushort_as_bfloat16(bits));
}
__device__ inline std::uint16_t to_bits(Dtype dtype, float value) {
  return dtype == Dtype::kFp16 ? __half_as_ushort(__float2half_rn(value))
                               : __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

__device__ inline float load_element(const DeviceTensor& tensor, std::int64_t offset) {
  if (tensor.shape.dtype == Dtype::kFp32)
    return reinterpret_cast<const float*>(tensor.data_dev)[offset];
  return from_bits(tensor.shape.dtype,
                   reinterpret_cast<const std::uint16_t*>(tensor.data_dev)[offset]);
}
__device__ inline void store_element(const DeviceTensor& tensor, std::int64_t offset, float value) {
  if (tensor.shape.dtype == Dtype::kFp32) {
    reinterpret_cast<float*>(tensor.data_dev)[offset] = value;
  } else {
    reinterpret_cast<std::uint16_t*>(tensor.data_dev)[offset] = to_bits(tensor.shape.dtype, value);
  }
}

__device__ inline unsigned pack_pair(Dtype dtype, float low, float high) {
  return to_bits(dtype, low) | static_cast<unsigned>(to_bits(dtype, high)) << 16;
}

// Eight neighbouring dims of a tensor that lies_in_eights(); `offset` is a multiple of eight.
__device__ inline void load_eight(const DeviceTensor& tensor, std::int64_t offset,
                                  float (&values)[8]) {
  if (tensor.shape.dtype == Dtype::kFp32) {
    const auto* from = reinterpret_cast<const float4*>(tensor.data_dev) + offset / 4;
    const float4 low = from[0];
    const float4 high = from[1];
    values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
    values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
    return;
  }
  const uint4 words = reinterpret_cast<const uint4*>(tensor.data_dev)[offset / 8];
  const unsigned pairs[4] = {words.x, words.y, words.z, words.w};
  for (int i = 0; i < 4; ++i) {
    values[2 * i] = from_bits(tensor.shape.dtype, static_cast<std::uint16_t>(pairs[i]));
    values[2 * i + 1] = from_bits(tensor.shape.dtype, static_cast<std::uint16_t>(pairs[i] >> 16));
  }
}
__device__ inline void store_eight(const DeviceTensor& tensor, std::int64_t offset,
                                   const float (&values)[8]) {
  if (tensor.shape.dtype == Dtype::kFp32) {
    auto* to = reinterpret_cast<float4*>(tensor.data_dev) + offset / 4;
    to[0] = make_float4(values[0], values[1], values[2], values[3]);
    to[1] = make_float4(values[4], values[5], values[6], values[7]);
    return;
  }
  const Dtype dtype = tensor.shape.dtype;
  reinterpret_cast<uint4*>(tensor.data_dev)[offset / 8] =
      make_uint4(pack_pair(dtype, values[0], values[1]), pack_pair(dtype, values[2], values[3]),
                 pack_pair(dtype, values[4], values[5]), pack_pair(dtype, values[6], values[7]));
}

}  // namespace sluice
