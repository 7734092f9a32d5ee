// Quantising a token on a GPU, one warp per token, for both CacheGen codecs.
// Where in the flow: in front of codec/entropy/cuda_encode.h.
#pragma once

#include "codec/cachegen_released/symbol_rule.h"
#include "codec/codable.h"
#include "codec/device/kernel_parts.h"
#include "codec/entropy/cuda_stream.h"

namespace sluice::cachegen_released {

// What an encoder's kernels need of one tensor; anchors and what follows for cachegen-published
// alone.
struct TensorToEncode {
  DeviceTensor tensor;
  std::int64_t first_unit = 0;  // a unit is a token, or a group of them
  unsigned channels = 0, dim = 0, tokens = 0;
  std::int32_t max_symbol = 1;
  std::int16_t* symbols_dev = nullptr;      // [token, channel]; of anchors [group, channel]
  std::byte* front_dev = nullptr;           // what stands in front of the plane: scales
  std::int16_t* differences_dev = nullptr;  // [token without anchors, channel]
  float* anchors_dev = nullptr;             // [group, channel], as decoded
  double* sizes_dev = nullptr;              // [token without anchors] root mean square differences
  double* sorted_dev = nullptr;
  float relative_step = 0;
};

__device__ inline float codable_at(const TensorToEncode& job, unsigned token, unsigned channel) {
  return codable(
      load_element(job.tensor, job.tensor.offset(channel / job.dim, token, channel % job.dim)));
}

// Writes the token's symbols and returns its scale, by all lanes of a warp.
__device__ inline std::uint16_t quantise_token(const TensorToEncode& job, unsigned token,
                                               std::int16_t* symbols) {
  float magnitude = 0.0F;
  for (unsigned c = entropy::lane_of_thread(); c < job.channels; c += entropy::kLanes)
    magnitude = fmaxf(magnitude, fabsf(codable_at(job, token, c)));
  for (int apart = entropy::kLanes / 2; apart > 0; apart /= 2)
    magnitude = fmaxf(magnitude, __shfl_xor_sync(kAllLanes, magnitude, apart));
  const std::uint16_t scale = fp32_to_fp16(magnitude);
  const float ratio = scale == 0 ? 0.0F : static_cast<float>(job.max_symbol) / fp16_to_fp32(scale);
  for (unsigned c = entropy::lane_of_thread(); c < job.channels; c += entropy::kLanes) {
    symbols[c] =
        scale == 0 ? std::int16_t{0} : symbol_of(codable_at(job, token, c), ratio, job.max_symbol);
  }
  return scale;
}

}  // namespace sluice::cachegen_released
