// What stands in front of the stream of a tile with classes, as a warp reads it.
// Where in the flow: under cuda_decode.h. spec.md, section 5.
// Surprise: every function here is called by all 32 lanes together and answers all alike.
#pragma once

#include "codec/entropy/cuda_stream.h"
#include "codec/entropy/lane_tables.h"

namespace sluice::entropy {

// A tile's list of exceptions, taken as their groups are decoded. They are few: all lanes read
// each, and the lane that decoded the place writes it again.
struct ExceptionList {
  static constexpr unsigned kBytes = 4;
  const std::byte* at;
  unsigned left;
  int previous = -1;

  // put(row, symbol) in the lanes of this group's exceptions; false when one is out of place.
  template <typename Put>
  __device__ bool take_group(unsigned group, unsigned rows, unsigned used_lanes, const Put& put) {
    const int first = static_cast<int>(group * rows * kLanes);
    for (; left > 0; --left, at += kBytes) {
      const int place = load_u16(at);
      if (place >= first + static_cast<int>(rows * kLanes)) return true;
      const unsigned lane = static_cast<unsigned>(place) % kLanes;
      if (place < first || place <= previous || lane >= used_lanes) return false;
      previous = place;
      if (lane == lane_of_thread())
        put(static_cast<unsigned>(place - first) / kLanes, load_u16(at + 2));
    }
    return true;
  }
};

// Tables, bases, pair flags and exceptions.
struct ClassTileHeader {
  unsigned scale_table, centre_table;
  std::int32_t scale_base, centre_base;
  const std::byte* flags;
  ExceptionList exceptions;

  // Leaves `in` at the stream; false when the tile ends before.
  __device__ bool read(TileBytes& in, unsigned groups) {
    constexpr unsigned kFixedBytes = 9;
    const unsigned flag_bytes = (groups + 7) / 8;
    if (in.left < kFixedBytes + flag_bytes) return false;
    scale_table = in.get<std::uint8_t>();
    scale_base = in.get<std::uint8_t>();
    centre_table = in.get<std::uint8_t>();
    centre_base = static_cast<std::int16_t>(in.get<std::uint16_t>());
    const auto num_exceptions = in.get<std::uint32_t>();
    flags = in.at;
    in.skip(flag_bytes);
    if (in.left / ExceptionList::kBytes < num_exceptions) return false;
    exceptions = ExceptionList{in.at, num_exceptions};
    in.skip(num_exceptions * ExceptionList::kBytes);
    return true;
  }
  [[nodiscard]] __device__ bool is_known(unsigned groups) const {
    const bool has_spare_flags =
        groups % 8 != 0 && static_cast<unsigned>(flags[groups / 8]) >> groups % 8 != 0;
    return scale_table < kNumScales && centre_table < kNumScales && !has_spare_flags;
  }
  [[nodiscard]] __device__ bool is_paired(unsigned group) const {
    return (static_cast<unsigned>(flags[group / 8]) >> group % 8 & 1) != 0;
  }
};

}  // namespace sluice::entropy
