// One tile's rANS stream on the CPU, read from its first step to its last.
// Where in the flow: under tile_decode.cc and digit_decode.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "codec/bytes.h"
#include "codec/entropy/kernel.h"
#include "codec/entropy/lane_tables.h"
#include "codec/entropy/tile.h"

namespace sluice::entropy {

class StreamReader {
 public:
  // States of the lanes in use, then words to the end of `in`.
  StreamReader(ByteReader& in, int used_lanes, const Kernels& kernels) : kernels_(kernels) {
    std::fill(std::begin(state_.lanes), std::end(state_.lanes), kLowerBound);
    for (int lane = 0; lane < used_lanes; ++lane) state_.lanes[lane] = in.get<std::uint32_t>();
    is_whole_ = in.ok();
    const auto words = in.get_bytes(in.left());
    state_.words = words.data();
    state_.words_end = words.data() + words.size();
  }
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  // Rows [run.begin, run.end) of a group; false when the words run out.
  [[nodiscard]] bool get_run(const LaneTables& lanes, const Run& run, bool paired,
                             std::int16_t* group) {
    std::int16_t* const symbols = group + run.begin * kLanes;
    const std::int64_t rows = run.end - run.begin;
    const std::int64_t pairs = paired ? rows / 2 : 0;
    if (pairs > 0 && !kernels_.decode_pairs(state_, lanes.decode_lanes(true), pairs, symbols)) {
      return false;
    }
    return rows == 2 * pairs ||
           kernels_.decode_singles(state_, lanes.decode_lanes(false), rows - 2 * pairs,
                                   symbols + 2 * pairs * kLanes);
  }
  // Refines those rows.
  [[nodiscard]] bool get_digits(const DigitLanes& lanes, const Run& run, std::int16_t* group) {
    return kernels_.decode_digits(state_, lanes, run.end - run.begin, group + run.begin * kLanes);
  }
  // All lanes back where the encoder began, and no word left.
  [[nodiscard]] bool is_at_end() const {
    return state_.words == state_.words_end &&
           std::all_of(std::begin(state_.lanes), std::end(state_.lanes),
                       [](std::uint32_t lane) { return lane == kLowerBound; });
  }

 private:
  const Kernels& kernels_;
  DecodeState state_;
  bool is_whole_ = false;
};

}  // namespace sluice::entropy
