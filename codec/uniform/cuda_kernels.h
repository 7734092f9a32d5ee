// The kernels of int8 and int4, templates over their width (bits per code, largest code).
// Where in the flow: instantiated by codec/int8/cuda.cu and codec/int4/cuda.cu. Decoding multiplies
// and writes into the tensor's layout in one pass; encoding gives each group of channels some lanes
// of a warp: largest magnitude, scale, codes.
#pragma once

#include "codec/codable.h"
#include "codec/device/kernel_parts.h"
#include "codec/uniform/cuda_job.h"
#include "codec/uniform/scale.h"

namespace sluice::uniform {

// The tokens of one unit: [first, end).
struct UnitTokens {
  unsigned first, end;
};
__device__ inline UnitTokens tokens_of(const TensorJob& job, std::int64_t unit) {
  const auto first = static_cast<unsigned>(unit - job.first_unit) * job.tokens_per_unit;
  const unsigned end = first + job.tokens_per_unit;
  return {first, end < job.tokens ? end : job.tokens};
}

// kCount neighbouring channels of one token, 8 or 2; of two the second may not exist.
template <int kCount>
__device__ void load_piece(const TensorJob& job, unsigned token, unsigned channel,
                           float (&values)[kCount]) {
  const unsigned dim = job.dim;
  if constexpr (kCount == 8) {
    load_eight(job.tensor, job.tensor.offset(channel / dim, token, channel % dim), values);
  } else {
    for (int i = 0; i < kCount; ++i) {
      const unsigned c = channel + i;
      values[i] = c < job.channels
                      ? load_element(job.tensor, job.tensor.offset(c / dim, token, c % dim))
                      : 0.0F;
    }
  }
  for (float& value : values) value = codable(value);
}
template <int kCount>
__device__ void store_piece(const TensorJob& job, unsigned token, unsigned channel,
                            const float (&values)[kCount]) {
  const unsigned dim = job.dim;
  if constexpr (kCount == 8) {
    store_eight(job.tensor, job.tensor.offset(channel / dim, token, channel % dim), values);
  } else {
    for (int i = 0; i < kCount; ++i) {
      const unsigned c = channel + i;
      if (c >= job.channels) return;
      store_element(job.tensor, job.tensor.offset(c / dim, token, c % dim), values[i]);
    }
  }
}

// Two's complement in kBits, the first channel lowest; at most eight codes are one 64-bit word.
template <int kBits>
__device__ int code_at(std::uint64_t word, int index) {
  constexpr unsigned kSign = 1U << (kBits - 1);
  const auto code = static_cast<unsigned>(word >> (kBits * index)) & ((1U << kBits) - 1);
  return static_cast<int>(code ^ kSign) - static_cast<int>(kSign);
}

// The bytes of one piece's codes: all of 8 codes, or of 2 those that exist.
template <typename Width, int kCount>
__device__ int code_bytes_of(const TensorJob& job, unsigned channel) {
  if (kCount == 8 || Width::kBits == 4) return kCount * Width::kBits / 8;
  return job.channels - channel < kCount ? 1 : 2;
}
template <typename Width, int kCount>
__device__ std::uint64_t load_codes(const TensorJob& job, unsigned channel,
                                    const std::byte* codes) {
  if constexpr (kCount == 8 && Width::kBits == 8) {
    const uint2 words = *reinterpret_cast<const uint2*>(codes);
    return words.x | static_cast<std::uint64_t>(words.y) << 32;
  } else if constexpr (kCount == 8) {
    return *reinterpret_cast<const std::uint32_t*>(codes);
  } else {
    std::uint64_t word = 0;
    for (int i = 0; i < code_bytes_of<Width, kCount>(job, channel); ++i)
      word |= static_cast<std::uint64_t>(codes[i]) << (8 * i);
    return word;
  }
}
template <typename Width, int kCount>
__device__ void store_codes(const TensorJob& job, unsigned channel, std::uint64_t word,
                            std::byte* codes) {
  if constexpr (kCount == 8 && Width::kBits == 8) {
    *reinterpret_cast<uint2*>(codes) =
        make_uint2(static_cast<unsigned>(word), static_cast<unsigned>(word >> 32));
  } else if constexpr (kCount == 8) {
    *reinterpret_cast<std::uint32_t*>(codes) = static_cast<std::uint32_t>(word);
  } else {
    for (int i = 0; i < code_bytes_of<Width, kCount>(job, channel); ++i)
      codes[i] = static_cast<std::byte>(word >> (8 * i) & 0xFF);
  }
}

// Byte of the payload: where a token's codes from `channel` on lie, and the scale of a group.
template <typename Width>
__device__ std::int64_t code_position(const TensorJob& job, unsigned token, unsigned channel) {
  return job.codes_at + static_cast<std::int64_t>(token) * job.code_bytes_per_token +
         (Width::kBits == 8 ? channel : channel / 2);
}
__device__ inline std::int64_t scale_position(const TensorJob& job, unsigned token,
                                              unsigned group) {
  return job.scales_at + 2 * (static_cast<std::int64_t>(token) * job.groups_per_token + group);
}

template <typename Width, int kCount>
__device__ void decode_piece(const TensorJob& job, unsigned token, unsigned channel,
                             const std::byte* payload, RunHeader* header) {
  const std::int64_t scale_at = scale_position(job, token, channel / job.group);
  const std::uint16_t fp16 = load_u16(payload + scale_at);
  if (!is_valid_scale(fp16))
    report_fault(header, {static_cast<std::uint64_t>(scale_at), kScaleFault, fp16});
  const std::int64_t codes_at = code_position<Width>(job, token, channel);
  const std::uint64_t word = load_codes<Width, kCount>(job, channel, payload + codes_at);
  const bool has_padding = kCount == 2 && Width::kBits == 4 && channel + 1 == job.channels;
  if (has_padding && word >> 4 != 0)
    report_fault(header, {static_cast<std::uint64_t>(codes_at), kPaddingFault, 0});
  const float scale = fp16_to_fp32(fp16);
  float values[kCount];
  for (int i = 0; i < kCount; ++i)
    values[i] = static_cast<float>(code_at<Width::kBits>(word, i)) * scale;
  store_piece<kCount>(job, token, channel, values);
}

template <typename Width, int kCount>
__device__ void decode_unit(const TensorJob& job, const UnitTokens& tokens,
                            const std::byte* payload, RunHeader* header) {
  const unsigned pieces = (job.channels + kCount - 1) / kCount;
  const unsigned end = (tokens.end - tokens.first) * pieces;
  for (unsigned i = threadIdx.x; i < end; i += blockDim.x) {
    decode_piece<Width, kCount>(job, tokens.first + i / pieces, i % pieces * kCount, payload,
                                header);
  }
}

template <typename Width>
__global__ void __launch_bounds__(kMaxThreads)
    decode_tokens(const TensorJob* jobs, unsigned num_jobs, std::int64_t num_units,
                  const std::byte* payload, RunHeader* header) {
  for (std::int64_t unit = blockIdx.x; unit < num_units; unit += gridDim.x) {
    const TensorJob& job = job_of_unit(jobs, num_jobs, unit);
    if (job.channels_per_piece == 8) {
      decode_unit<Width, 8>(job, tokens_of(job, unit), payload, header);
    } else {
      decode_unit<Width, 2>(job, tokens_of(job, unit), payload, header);
    }
  }
}

// Channels [first, end) of one token.
struct Group {
  unsigned token, first, end;
};

// The largest magnitude of a group, over the lanes that share it. Every lane of the warp comes
// here; one without a group brings an empty one.
template <int kCount>
__device__ float magnitude_of(const TensorJob& job, const Group& group, unsigned lane_in_group) {
  float magnitude = 0.0F;
  for (unsigned c = group.first + lane_in_group * kCount; c < group.end;
       c += job.lanes_per_group * kCount) {
    float values[kCount];
    load_piece<kCount>(job, group.token, c, values);
    for (const float value : values) magnitude = fmaxf(magnitude, fabsf(value));
  }
  for (unsigned apart = job.lanes_per_group / 2; apart > 0; apart /= 2)
    magnitude = fmaxf(magnitude, __shfl_xor_sync(kAllLanes, magnitude, static_cast<int>(apart)));
  return magnitude;
}

template <typename Width, int kCount>
__device__ void encode_piece(const TensorJob& job, unsigned token, unsigned channel, float scale,
                             std::byte* payload) {
  float values[kCount];
  load_piece<kCount>(job, token, channel, values);
  std::uint64_t word = 0;
  for (int i = 0; i < kCount; ++i) {
    const auto code = static_cast<unsigned>(static_cast<int>(code_of(values[i], scale)));
    word |= static_cast<std::uint64_t>(code & ((1U << Width::kBits) - 1)) << (Width::kBits * i);
  }
  store_codes<Width, kCount>(job, channel, word,
                             payload + code_position<Width>(job, token, channel));
}

template <typename Width, int kCount>
__device__ void encode_group(const TensorJob& job, const Group& group, unsigned group_index,
                             float magnitude, unsigned lane_in_group, std::byte* payload) {
  const std::uint16_t fp16 = scale_for(magnitude, Width::kCodeMax);
  if (lane_in_group == 0) store_u16(payload + scale_position(job, group.token, group_index), fp16);
  const float scale = fp16_to_fp32(fp16);
  for (unsigned c = group.first + lane_in_group * kCount; c < group.end;
       c += job.lanes_per_group * kCount) {
    encode_piece<Width, kCount>(job, group.token, c, scale, payload);
  }
}

template <typename Width, int kCount>
__device__ void encode_unit(const TensorJob& job, const UnitTokens& tokens, std::byte* payload) {
  const unsigned lanes = job.lanes_per_group;
  const unsigned num_groups = (tokens.end - tokens.first) * job.groups_per_token;
  // All lanes of a warp make the same number of rounds, since they shuffle together.
  const unsigned first_of_warp = threadIdx.x / 32 * 32 / lanes;
  for (unsigned base = 0; base + first_of_warp < num_groups; base += blockDim.x / lanes) {
    const unsigned i = base + threadIdx.x / lanes;
    const unsigned group_index = i % job.groups_per_token;
    Group group{tokens.first + i / job.groups_per_token, group_index * job.group, 0};
    group.end = group.first + job.group < job.channels ? group.first + job.group : job.channels;
    const bool has_group = i < num_groups;
    if (!has_group) group.end = group.first;
    const float magnitude = magnitude_of<kCount>(job, group, threadIdx.x % lanes);
    if (has_group) {
      encode_group<Width, kCount>(job, group, group_index, magnitude, threadIdx.x % lanes, payload);
    }
  }
}

template <typename Width>
__global__ void __launch_bounds__(kMaxThreads)
    encode_tokens(const TensorJob* jobs, unsigned num_jobs, std::int64_t num_units,
                  std::byte* payload) {
  for (std::int64_t unit = blockIdx.x; unit < num_units; unit += gridDim.x) {
    const TensorJob& job = job_of_unit(jobs, num_jobs, unit);
    if (job.channels_per_piece == 8) {
      encode_unit<Width, 8>(job, tokens_of(job, unit), payload);
    } else {
      encode_unit<Width, 2>(job, tokens_of(job, unit), payload);
    }
  }
}

}  // namespace sluice::uniform
