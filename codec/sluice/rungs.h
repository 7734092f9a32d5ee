// The ladder of the codec `sluice`: rungs a factor of 3^(1/3) apart, and how a level climbs them.
// Where in the flow: encode.cc and decode.cc ask it which planes a level has; spec.md, section 2,
// says the same in words.
// Surprise: three rungs make a factor of exactly 3, so that a ternary digit carries a stream from
// rung r to rung r + 3 and its prefix is what rung r alone would have been.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/codec.h"

namespace sluice::ladder {

inline constexpr int kNumRungs = 19;          // 1 (coarsest) to 19
inline constexpr int kDigitRungs = 3;         // what one digit climbs
inline constexpr int kFinestCommonRung = 13;  // rungs up to here nest in one grid per residue
inline constexpr int kClassLow = -8, kClassHigh = 6;
inline constexpr float kOffsetStep = 0.5F;  // of channel offsets, on every rung

// How a level's symbols travel: one plane of symbols at `base_rung`, then digits.
struct LevelPlanes {
  int base_rung = 1;
  int base_digits = 0;  // digit planes in the base section itself, where symbols would be too wide
  int refinements = 0;  // digit planes in sections of their own

  // Of what is decoded from the base and so many refinements.
  [[nodiscard]] int rung(std::int32_t refinement) const {
    return base_rung + kDigitRungs * (base_digits + refinement);
  }
};

[[nodiscard]] std::vector<CodecLevelInfo> levels();  // best first
[[nodiscard]] std::size_t default_level();
[[nodiscard]] LevelPlanes planes_of(std::size_t level);

// 3^((7 - rung) / 3): a step of 1 on rung 7.
[[nodiscard]] float step_of(int rung);
// 2^(k / 2): what a token of class k multiplies the step by.
[[nodiscard]] float class_factor(int k);

}  // namespace sluice::ladder
