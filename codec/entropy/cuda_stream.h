// One tile's rANS stream on one warp: a lane each for the 32 states, words found by a vote.
// Where in the flow: under cuda_decode.h. spec.md, section 3.
// Surprise: every function here is called by all 32 lanes together and answers all alike.
#pragma once

#include "codec/device/kernel_parts.h"
#include "codec/entropy/rules.h"

namespace sluice::entropy {

__device__ inline unsigned lane_of_thread() {
  return threadIdx.x % kLanes;
}

// A tile's bytes in order, at any address; every lane reads the same.
struct TileBytes {
  const std::byte* at;
  unsigned left;

  // 1, 2 or 4 bytes; 0 past the end, which `left` cannot then hide: callers check it first.
  template <typename Number>
  __device__ Number get() {
    Number number = 0;
    for (unsigned i = 0; i < sizeof(Number); ++i)
      number = static_cast<Number>(number | static_cast<Number>(at[i]) << (8 * i));
    skip(sizeof(Number));
    return number;
  }
  __device__ void skip(unsigned bytes) {
    at += bytes;
    left -= bytes;
  }
};

class WarpStream {
 public:
  // States, then words to the end. False when the states are not all there.
  __device__ bool open(TileBytes bytes, unsigned used_lanes) {
    const unsigned lane = lane_of_thread();
    state_ = kLowerBound;
    if (bytes.left / sizeof(std::uint32_t) < used_lanes) return false;
    if (lane < used_lanes) {
      const std::byte* const at = bytes.at + lane * sizeof(std::uint32_t);
      state_ = load_u16(at) | static_cast<std::uint32_t>(load_u16(at + 2)) << 16;
    }
    bytes.skip(used_lanes * sizeof(std::uint32_t));
    words_ = bytes;
    return true;
  }

  // One step: a slot for each lane in use, by lookup(place in its table). False when the words run
  // out.
  template <typename Lookup>
  __device__ bool step(const Lookup& lookup, bool in_use, Slot& slot) {
    if (in_use) {
      slot = lookup(state_ & kSlotMask);
      state_ = state_after(slot, state_);
    }
    const bool needs_word = in_use && state_ < kLowerBound;
    const unsigned needing = __ballot_sync(kAllLanes, needs_word);
    const unsigned bytes = kWordBytes * static_cast<unsigned>(__popc(needing));
    if (bytes > words_.left) return false;
    if (needs_word) {
      const unsigned below = needing & ((1U << lane_of_thread()) - 1);
      state_ = state_ << 16 | load_u16(words_.at + kWordBytes * __popc(below));
    }
    words_.skip(bytes);
    return true;
  }

  // All lanes back where the encoder began, and no word left.
  __device__ bool is_at_end() const {
    return __all_sync(kAllLanes, state_ == kLowerBound) != 0 && words_.left == 0;
  }

 private:
  std::uint32_t state_ = kLowerBound;
  TileBytes words_{nullptr, 0};
};

}  // namespace sluice::entropy
