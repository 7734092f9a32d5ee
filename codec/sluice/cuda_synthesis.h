// Symbols to tokens on a GPU: sums over the basis, then scale, offset, rotation and rounding.
// Where in the flow: behind the tiles, launched by cuda.cu; spec.md, sections 5 and 6.
// Surprise: sums wrap modulo 2^32 as the CPU's do, so that their order does not show; floats are
// rounded after each operation (kernels are compiled without fused multiply-add).
#pragma once

#include "codec/codable.h"
#include "codec/device/kernel_parts.h"
#include "codec/device/launch_table.h"
#include "codec/sluice/cuda_job.h"

namespace sluice::ladder {

// A thread of multiply_basis() sums one column of so many rows.
inline constexpr unsigned kRowsPerThread = 16;
inline constexpr unsigned kSumThreads = kSumColumns * kSumRows / kRowsPerThread;
// Quads of coefficients that lie in shared memory at a time.
inline constexpr unsigned kStagedQuads = 16;

// Four symbols of a row from `coefficient` of the block on, two to a word; 0 beyond the block.
__device__ inline uint2 load_symbols(const BasisJob& job, unsigned row, unsigned coefficient) {
  unsigned symbols[4] = {0, 0, 0, 0};
  if (row < job.rows) {
    const std::int16_t* const from =
        job.symbols_dev + static_cast<std::size_t>(row) * job.channels + job.first;
    for (unsigned i = 0; i < 4 && coefficient + i < job.width; ++i)
      symbols[i] = static_cast<std::uint16_t>(from[coefficient + i]);
  }
  return make_uint2(symbols[0] | symbols[1] << 16, symbols[2] | symbols[3] << 16);
}

// Sums of a piece of kSumRows x kSumColumns at a time: symbols through shared memory, where all
// lanes of a warp read the same ones, and the basis through the caches.
inline __global__ void __launch_bounds__(kSumThreads, 2)
    multiply_basis(const BasisJob* jobs, unsigned num_jobs, std::int64_t num_units) {
  __shared__ uint2 staged[kSumRows][kStagedQuads];
  for (std::int64_t unit = blockIdx.x; unit < num_units; unit += gridDim.x) {
    const BasisJob& job = job_of_unit(jobs, num_jobs, unit);
    const auto piece = static_cast<unsigned>(unit - job.first_unit);
    const unsigned first_row = piece / job.columns_of_tiles() * kSumRows;
    const unsigned column =
        piece % job.columns_of_tiles() * kSumColumns + threadIdx.x % kSumColumns;
    const unsigned own_rows = threadIdx.x / kSumColumns * kRowsPerThread;
    const unsigned quads = (job.width + 3) / 4;
    int sums[kRowsPerThread] = {};
    for (unsigned quad = 0; quad < quads; quad += kStagedQuads) {
      __syncthreads();  // nobody reads the last ones any more
      for (unsigned i = threadIdx.x; i < kSumRows * kStagedQuads; i += kSumThreads) {
        const unsigned row = i / kStagedQuads, next = i % kStagedQuads;
        staged[row][next] = load_symbols(job, first_row + row, 4 * (quad + next));
      }
      __syncthreads();
      if (column >= job.width) continue;
      for (unsigned next = 0; next < kStagedQuads && quad + next < quads; ++next) {
        const auto factors = static_cast<int>(
            job.quads_dev[static_cast<std::size_t>(quad + next) * job.width + column]);
        for (unsigned row = 0; row < kRowsPerThread; ++row) {
          const uint2 symbols = staged[own_rows + row][next];
          sums[row] = __dp2a_lo(static_cast<int>(symbols.x), factors, sums[row]);
          sums[row] = __dp2a_hi(static_cast<int>(symbols.y), factors, sums[row]);
        }
      }
    }
    if (column >= job.width) continue;
    for (unsigned row = 0; row < kRowsPerThread; ++row) {
      const std::size_t at = first_row + own_rows + row;
      if (at < job.rows) job.sums_dev[at * job.channels + job.first + column] = sums[row];
    }
  }
}

// One token of a tensor that is coded as symbols.
class TokenWriter {
 public:
  __device__ TokenWriter(const TokenJob& job, std::int64_t row, std::int64_t token)
      : job_(job),
        row_(row),
        numbers_at_(static_cast<std::size_t>(row) * job.channels + job.first),
        step_(job.steps_dev[row]),
        elements_(job.tensor.token_offset(token)) {}

  // A lane takes a pair of dims that turn, or a dim that does not.
  __device__ void write(unsigned lane, unsigned lanes) const {
    const auto dim = static_cast<unsigned>(job_.tensor.shape.dim);
    const DeviceRotation& turn = job_.rotation;
    const unsigned slots = dim - turn.pairs;  // of a head
    const unsigned all = static_cast<unsigned>(job_.tensor.shape.heads) * slots;
    for (unsigned i = lane; i < all; i += lanes) {
      const unsigned head = i / slots, slot = i % slots;
      if (slot < turn.pairs) {
        write_pair(head, dim, slot);
      } else {
        const unsigned rest = slot - turn.pairs;
        const unsigned own = rest < turn.first ? rest : rest + 2 * turn.pairs;
        put(head, own, value(head * dim + own));
      }
    }
  }

 private:
  // Of the tensor's channel, before rotation.
  [[nodiscard]] __device__ float value(unsigned channel) const {
    const std::size_t at = numbers_at_ + channel;
    const std::int32_t number = job_.sums_dev != nullptr ? job_.sums_dev[at] : job_.symbols_dev[at];
    const float step = step_ * job_.scales_dev[channel];
    const float product = step * static_cast<float>(number);
    return product + job_.offsets_dev[channel];
  }

  __device__ void write_pair(unsigned head, unsigned dim, unsigned pair) const {
    const DeviceRotation& turn = job_.rotation;
    const std::size_t at = static_cast<std::size_t>(row_) * turn.pairs + pair;
    const float cosine = turn.cosines_dev[at], sine = turn.sines_dev[at];
    const unsigned first = turn.first + pair * turn.step, second = first + turn.distance;
    const float a = value(head * dim + first), b = value(head * dim + second);
    const float ac = a * cosine, bs = b * sine;
    const float bc = b * cosine, as = a * sine;
    put(head, first, ac - bs);
    put(head, second, bc + as);
  }

  __device__ void put(unsigned head, unsigned dim, float value) const {
    const Strides& strides = job_.tensor.strides;
    store_element(job_.tensor, elements_ + head * strides.head + dim * strides.dim, codable(value));
  }

  const TokenJob& job_;
  std::int64_t row_;
  std::size_t numbers_at_;  // of the row's channels of this tensor
  float step_;
  std::int64_t elements_;
};

// An element as it stands in the stream, at any address.
__device__ inline float load_raw(Dtype dtype, const std::byte* from) {
  if (dtype != Dtype::kFp32) return from_bits(dtype, load_u16(from));
  return __uint_as_float(load_u16(from) | static_cast<unsigned>(load_u16(from + 2)) << 16);
}

// Token 0 as it was.
__device__ inline void write_raw_token(const TokenJob& job, const std::byte* payload, unsigned lane,
                                       unsigned lanes) {
  const DeviceTensor& tensor = job.tensor;
  const unsigned width = tensor.shape.dtype == Dtype::kFp32 ? 4 : 2;
  const auto dim = static_cast<unsigned>(tensor.shape.dim);
  const auto channels = static_cast<unsigned>(tensor.shape.heads) * dim;
  const std::int64_t elements = tensor.token_offset(0);
  for (unsigned channel = lane; channel < channels; channel += lanes) {
    const std::byte* const from = payload + job.raw_at + static_cast<std::int64_t>(channel) * width;
    store_element(
        tensor, elements + channel / dim * tensor.strides.head + channel % dim * tensor.strides.dim,
        codable(load_raw(tensor.shape.dtype, from)));
  }
}

// A warp per token of a tensor.
inline __global__ void __launch_bounds__(kMaxTileThreads)
    write_tokens(const TokenJob* jobs, unsigned num_jobs, std::int64_t num_tokens,
                 const std::byte* payload) {
  constexpr unsigned kWarp = 32;
  const unsigned warps = blockDim.x / kWarp, lane = threadIdx.x % kWarp;
  for (std::int64_t unit = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / kWarp;
       unit < num_tokens; unit += static_cast<std::int64_t>(gridDim.x) * warps) {
    const TokenJob& job = job_of_unit(jobs, num_jobs, unit);
    const std::int64_t token = unit - job.first_unit;
    const std::int64_t first_row = job.raw_at >= 0 ? 1 : 0;
    if (token < first_row) {
      write_raw_token(job, payload, lane, kWarp);
    } else {
      TokenWriter(job, token - first_row, token).write(lane, kWarp);
    }
  }
}

}  // namespace sluice::ladder
