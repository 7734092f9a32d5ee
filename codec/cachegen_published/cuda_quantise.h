// The quantiser of cachegen-published on a GPU: anchors, the typical difference, differences.
// Where in the flow: cuda.cu launches these four kernels in front of codec/entropy/cuda_collect.h.
// Surprise: the typical difference is the CPU's to the bit, so its sums run in the CPU's order.
#pragma once

#include "codec/cachegen_published/cuda_rows.h"
#include "codec/cachegen_published/kernel.h"
#include "codec/cachegen_released/cuda_quantise.h"

namespace sluice::cachegen_published {

using cachegen_released::TensorToEncode;

constexpr unsigned kScalesAt = sizeof(float);  // of a tensor's front, behind its step

// The token of difference row `row`, and the group whose anchor it has.
__device__ inline unsigned token_of_row(unsigned row) {
  return row / DifferenceRows::kPerGroup * (DifferenceRows::kPerGroup + 1) +
         row % DifferenceRows::kPerGroup + 1;
}
__device__ inline const float* anchor_of_row(const TensorToEncode& job, unsigned row) {
  return job.anchors_dev + static_cast<std::size_t>(row / DifferenceRows::kPerGroup) * job.channels;
}
__device__ inline unsigned num_rows(const TensorToEncode& job) {
  return job.tokens - (job.tokens + DifferenceRows::kPerGroup) / (DifferenceRows::kPerGroup + 1);
}

// A warp per token: anchors become scale, symbols and the values that they decode to.
inline __global__ void __launch_bounds__(kMaxThreads)
    quantise_anchors(const TensorToEncode* jobs, unsigned num_jobs, std::int64_t num_tokens) {
  const unsigned warps = blockDim.x / entropy::kLanes;
  for (std::int64_t unit = blockIdx.x * warps + threadIdx.x / entropy::kLanes; unit < num_tokens;
       unit += gridDim.x * warps) {
    const TensorToEncode& job = job_of_unit(jobs, num_jobs, unit);
    const auto token = static_cast<unsigned>(unit - job.first_unit);
    if (token % kGroupTokens != 0) continue;
    const std::size_t group = token / kGroupTokens;
    std::int16_t* const symbols = job.symbols_dev + group * job.channels;
    const std::uint16_t scale = cachegen_released::quantise_token(job, token, symbols);
    if (entropy::lane_of_thread() == 0) store_u16(job.front_dev + kScalesAt + 2 * group, scale);
    const float step = cachegen_released::step_of(scale, job.max_symbol);
    for (unsigned c = entropy::lane_of_thread(); c < job.channels; c += entropy::kLanes)
      job.anchors_dev[group * job.channels + c] = static_cast<float>(symbols[c]) * step;
  }
}

// A thread per difference row: the sum runs over channels in order, as the CPU's does.
inline __global__ void __launch_bounds__(kMaxThreads)
    measure_differences(const TensorToEncode* jobs, unsigned num_jobs, std::int64_t num_tokens) {
  for (std::int64_t unit = blockIdx.x * blockDim.x + threadIdx.x; unit < num_tokens;
       unit += gridDim.x * blockDim.x) {
    const TensorToEncode& job = job_of_unit(jobs, num_jobs, unit);
    const auto row = static_cast<unsigned>(unit - job.first_unit);
    if (row >= num_rows(job)) continue;
    const float* const anchor = anchor_of_row(job, row);
    double sum = 0;
    for (unsigned c = 0; c < job.channels; ++c) {
      const double delta =
          static_cast<double>(cachegen_released::codable_at(job, token_of_row(row), c)) - anchor[c];
      sum += delta * delta;
    }
    job.sizes_dev[row] = sqrt(sum / static_cast<double>(job.channels));
  }
}

// A block per tensor: sizes in order by counting smaller ones; their median, or the mean where that
// is 0, makes the step.
inline __global__ void __launch_bounds__(kMaxThreads)
    choose_steps(const TensorToEncode* jobs, unsigned num_jobs) {
  for (unsigned index = blockIdx.x; index < num_jobs; index += gridDim.x) {
    const TensorToEncode& job = jobs[index];
    const unsigned rows = num_rows(job);
    for (unsigned i = threadIdx.x; i < rows; i += blockDim.x) {
      unsigned place = 0;
      for (unsigned other = 0; other < rows; ++other) {
        const bool is_before = job.sizes_dev[other] < job.sizes_dev[i] ||
                               (job.sizes_dev[other] == job.sizes_dev[i] && other < i);
        place += is_before ? 1 : 0;
      }
      job.sorted_dev[place] = job.sizes_dev[i];
    }
    __syncthreads();
    if (threadIdx.x != 0) continue;
    double typical = rows == 0 ? 0 : job.sorted_dev[rows / 2];
    if (rows > 0 && !(typical > 0)) {
      double sum = 0;
      for (unsigned i = 0; i < rows; ++i) sum += job.sorted_dev[i];
      typical = sum / static_cast<double>(rows);
    }
    *reinterpret_cast<float*>(job.front_dev) = static_cast<float>(typical) * job.relative_step;
  }
}

// A warp per difference row: symbols.
inline __global__ void __launch_bounds__(kMaxThreads)
    quantise_differences(const TensorToEncode* jobs, unsigned num_jobs, std::int64_t num_tokens) {
  const unsigned warps = blockDim.x / entropy::kLanes;
  for (std::int64_t unit = blockIdx.x * warps + threadIdx.x / entropy::kLanes; unit < num_tokens;
       unit += gridDim.x * warps) {
    const TensorToEncode& job = job_of_unit(jobs, num_jobs, unit);
    const auto row = static_cast<unsigned>(unit - job.first_unit);
    if (row >= num_rows(job)) continue;
    const float step = *reinterpret_cast<const float*>(job.front_dev);
    const float* const anchor = anchor_of_row(job, row);
    std::int16_t* const symbols =
        job.differences_dev + static_cast<std::size_t>(row) * job.channels;
    for (unsigned c = entropy::lane_of_thread(); c < job.channels; c += entropy::kLanes) {
      const float value = cachegen_released::codable_at(job, token_of_row(row), c);
      symbols[c] = step > 0 ? delta_symbol(value, anchor[c], step) : std::int16_t{0};
    }
  }
}

}  // namespace sluice::cachegen_published
