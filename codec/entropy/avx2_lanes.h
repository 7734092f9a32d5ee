// What the AVX2 loops share: 32 lanes as four registers of eight, their refills, rows of symbols.
// Where in the flow: under avx2.cc and avx2_digits.cc.
// Surprise: a register's refills are 16 consecutive bytes spread over its lanes by a permutation
// that the mask of lanes below 2^16 names.
#pragma once

#include <immintrin.h>

#include "codec/entropy/kernel.h"

namespace sluice::entropy::avx2 {

inline constexpr int kRegisters = kLanes / 8;
// A step reads at most so many bytes, from the first word that it may take.
inline constexpr std::int64_t kWordRoom = kLanes * kWordBytes;

// Per mask: which of the next words each lane takes (spread), and which lanes give a word, packed
// towards the end (gather). Eight bytes each.
struct Permutations {
  alignas(64) std::uint8_t spread[256][8];
  alignas(64) std::uint8_t gather[256][8];
};
constexpr Permutations make_permutations() {
  Permutations made{};
  for (int mask = 0; mask < 256; ++mask) {
    std::uint8_t below = 0;
    for (int lane = 0; lane < 8; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      made.spread[mask][lane] = below++;
    }
    int place = 8;
    for (int lane = 7; lane >= 0; --lane) {
      if ((mask >> lane & 1) != 0) made.gather[mask][--place] = static_cast<std::uint8_t>(lane);
    }
  }
  return made;
}
inline constexpr Permutations kPermutations = make_permutations();

inline __m256i load_permutation(const std::uint8_t (&eight)[8]) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(eight)));
}

struct Registers {
  __m256i r[kRegisters];
};

template <typename T>
Registers load(const T (&lanes)[kLanes]) {
  Registers registers;
  for (int i = 0; i < kRegisters; ++i) {
    registers.r[i] = _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes + 8 * i));
  }
  return registers;
}

inline void store(const Registers& registers, std::uint32_t (&lanes)[kLanes]) {
  for (int i = 0; i < kRegisters; ++i) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes + 8 * i), registers.r[i]);
  }
}

// Lanes below 2^16 take the next words.
inline __attribute__((always_inline)) void refill(Registers& states, const std::byte*& words) {
  for (int i = 0; i < kRegisters; ++i) {
    const __m256i x = states.r[i];
    const __m256i is_low = _mm256_cmpeq_epi32(_mm256_srli_epi32(x, 16), _mm256_setzero_si256());
    const auto low = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(is_low)));
    const __m256i next =
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(words)));
    const __m256i spread =
        _mm256_permutevar8x32_epi32(next, load_permutation(kPermutations.spread[low]));
    const __m256i refilled = _mm256_or_si256(_mm256_slli_epi32(x, 16), spread);
    states.r[i] = _mm256_blendv_epi8(x, refilled, is_low);
    words += kWordBytes * __builtin_popcount(low);
  }
}

// 32 numbers of 32 bits to 32 of 16, modulo 2^16.
inline void store_row(const Registers& row, std::int16_t* symbols) {
  const __m256i low = _mm256_set1_epi32(0xFFFF);
  for (int i = 0; i < kRegisters; i += 2) {
    const __m256i packed =
        _mm256_packus_epi32(_mm256_and_si256(row.r[i], low), _mm256_and_si256(row.r[i + 1], low));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(symbols + 8 * i),
                        _mm256_permute4x64_epi64(packed, 0xD8));
  }
}

// Whether a lane that is not in use seems to want a word: the identity table keeps whatever state a
// stranger's stream left there. Such streams go to the scalar loop, which leaves those lanes alone.
inline bool has_low_unused_lane(const DecodeState& state, int used) {
  for (int lane = used; lane < kLanes; ++lane) {
    if (state.lanes[lane] < kLowerBound) return true;
  }
  return false;
}

}  // namespace sluice::entropy::avx2
