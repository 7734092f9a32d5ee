// What kernels need to know to turn symbols into channels, and channels into tokens.
// Where in the flow: made by cuda_plan.cc, read by cuda_synthesis.h.
#pragma once

#include <cstdint>

#include "codec/device/tensor.h"

namespace sluice::ladder {

// A block of multiply_basis() makes so many rows and columns of sums at a time.
inline constexpr unsigned kSumRows = 64, kSumColumns = 64;

// One block of a unit's basis. Matrices are [row, channel of the unit].
struct BasisJob {
  std::int64_t first_unit = 0;
  const std::int16_t* symbols_dev = nullptr;
  std::int32_t* sums_dev = nullptr;
  // Four coefficients of a channel in a word, the first lowest, zeros behind the last:
  // [coefficient / 4, channel of the block].
  const std::uint32_t* quads_dev = nullptr;
  unsigned rows = 0, channels = 0;  // of the unit
  unsigned first = 0, width = 0;    // channels of the block

  [[nodiscard]] SLUICE_HOST_DEVICE unsigned columns_of_tiles() const {
    return (width + kSumColumns - 1) / kSumColumns;
  }
  [[nodiscard]] SLUICE_HOST_DEVICE std::int64_t num_units() const {
    return static_cast<std::int64_t>((rows + kSumRows - 1) / kSumRows) * columns_of_tiles();
  }
};

// Which two dims of a head a pair is, and its angles' cosines and sines, [row, pair].
struct DeviceRotation {
  const float* cosines_dev = nullptr;
  const float* sines_dev = nullptr;
  unsigned pairs = 0;  // 0: nothing turns
  unsigned first = 0, step = 1, distance = 1;
};

// One tensor's tokens: a unit of work each.
struct TokenJob {
  DeviceTensor tensor;
  std::int64_t first_unit = 0;
  std::int64_t raw_at = -1;  // byte of the payload: its token 0, which then has no row; -1: none
  const std::int16_t* symbols_dev = nullptr;  // [row, channel of the unit]
  const std::int32_t* sums_dev = nullptr;     // the same; null: sums are the symbols
  const float* steps_dev = nullptr;           // [row]
  const float* scales_dev = nullptr;          // [channel of the tensor]
  const float* offsets_dev = nullptr;
  DeviceRotation rotation;
  unsigned channels = 0;  // of the unit
  unsigned first = 0;     // the tensor's first among them
};

}  // namespace sluice::ladder
