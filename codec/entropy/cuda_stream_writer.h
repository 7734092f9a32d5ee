// A tile's symbols and its rANS stream on one warp, from the last step to the first.
// Where in the flow: under cuda_encode.h; the counterpart of cuda_stream.h.
// Surprise: every function here is called by all 32 lanes together.
#pragma once

#include "codec/entropy/cuda_encode_plan.h"
#include "codec/entropy/cuda_stream.h"

namespace sluice::entropy {

__device__ inline void store_u32(std::byte* at, std::uint32_t value) {
  store_u16(at, static_cast<std::uint16_t>(value));
  store_u16(at + 2, static_cast<std::uint16_t>(value >> 16));
}

__device__ inline long long sum_over_warp(long long value) {
  for (int apart = kLanes / 2; apart > 0; apart /= 2)
    value += __shfl_xor_sync(kAllLanes, value, apart);
  return value;
}

// States and words, from the last step to the first.
class WarpStreamWriter {
 public:
  __device__ explicit WarpStreamWriter(std::byte* end) : words_(end), end_(end) {}

  __device__ void put(const EncodingSymbol& symbol, bool in_use) {
    const bool shrinks = in_use && must_shrink(state_, symbol);
    const unsigned shrinking = __ballot_sync(kAllLanes, shrinks);
    words_ -= kWordBytes * __popc(shrinking);
    if (shrinks) {
      const unsigned below = shrinking & ((1U << lane_of_thread()) - 1);
      store_u16(words_ + kWordBytes * __popc(below), static_cast<std::uint16_t>(state_));
      state_ >>= 16;
    }
    if (in_use) state_ = encode_symbol(state_, symbol);
  }
  [[nodiscard]] __device__ unsigned word_bytes() const {
    return static_cast<unsigned>(end_ - words_);
  }
  [[nodiscard]] __device__ std::uint32_t state() const { return state_; }

 private:
  std::uint32_t state_ = kLowerBound;
  std::byte* words_;
  std::byte* end_;
};

// A tile with what its warp reads: [row][column of the tile].
struct TileSymbols {
  const TileToEncode& tile;
  const PlaneToEncode& plane;

  [[nodiscard]] __device__ unsigned groups() const { return (tile.columns + kLanes - 1) / kLanes; }
  [[nodiscard]] __device__ unsigned column(unsigned group) const {
    return group * kLanes + lane_of_thread();
  }
  [[nodiscard]] __device__ bool in_use(unsigned group) const {
    return column(group) < tile.columns;
  }
  // The lane's column of the group, row 0; plane.columns from one row to the next.
  [[nodiscard]] __device__ const std::int16_t* start(unsigned group) const {
    return plane.symbols + static_cast<std::int64_t>(tile.row) * plane.columns + tile.column +
           column(group);
  }
  [[nodiscard]] __device__ std::int32_t at(unsigned group, unsigned row) const {
    return start(group)[static_cast<std::int64_t>(row) * plane.columns];
  }
};

}  // namespace sluice::entropy
