// The AVX2 backend: 32 lanes are four registers of eight.
// Surprise: near the end of the words the scalar loop takes over.
#include <immintrin.h>

#include "codec/entropy/avx2_counts.h"
#include "codec/entropy/avx2_digits.h"
#include "codec/entropy/avx2_lanes.h"
#include "codec/entropy/kernel.h"

namespace sluice::entropy {
namespace avx2 {
namespace {

// table[place] of eight places, by loads of their own: the gather instruction is slower by a sixth
// on Zen, and two to three times as slow on Intel's cores since their microcode of 2023.
inline __attribute__((always_inline)) __m256i look_up(const Slot* table, __m256i places) {
  const __m128i low = _mm256_castsi256_si128(places);
  const __m128i high = _mm256_extracti128_si256(places, 1);
  const auto two = [table](std::int64_t pair) __attribute__((always_inline)) {
    const auto both = static_cast<std::uint64_t>(pair);
    const __m128i first = _mm_cvtsi32_si128(static_cast<int>(table[both & 0xFFFFFFFFU]));
    return _mm_insert_epi32(first, static_cast<int>(table[both >> 32]), 1);
  };
  return _mm256_set_m128i(
      _mm_unpacklo_epi64(two(_mm_cvtsi128_si64(high)), two(_mm_extract_epi64(high, 1))),
      _mm_unpacklo_epi64(two(_mm_cvtsi128_si64(low)), two(_mm_extract_epi64(low, 1))));
}

// Every lane's slot; states move on and refill.
inline __attribute__((always_inline)) Registers take(Registers& states, const Registers& offsets,
                                                     const Slot* slots, const std::byte*& words) {
  const __m256i mask = _mm256_set1_epi32(kSlotMask);
  const __m256i one = _mm256_set1_epi32(1);
  Registers taken;
  for (int i = 0; i < kRegisters; ++i) {
    const __m256i x = states.r[i];
    const __m256i place = _mm256_add_epi32(_mm256_and_si256(x, mask), offsets.r[i]);
    const __m256i slot = look_up(slots, place);
    const __m256i frequency =
        _mm256_add_epi32(_mm256_and_si256(_mm256_srli_epi32(slot, kTableBits), mask), one);
    const __m256i moved = _mm256_mullo_epi32(frequency, _mm256_srli_epi32(x, kTableBits));
    states.r[i] = _mm256_add_epi32(moved, _mm256_and_si256(slot, mask));
    taken.r[i] = slot;
  }
  refill(states, words);
  return taken;
}

// A step of all registers takes as long as a few lanes do one by one.
constexpr int kFewLanes = 4;
bool is_for_scalar(const DecodeState& state, const DecodeLanes& lanes) {
  return lanes.used <= kFewLanes || has_low_unused_lane(state, lanes.used);
}

bool decode_singles(DecodeState& state, const DecodeLanes& lanes, std::int64_t rows,
                    std::int16_t* symbols) {
  if (is_for_scalar(state, lanes)) {
    return kScalarKernels.decode_singles(state, lanes, rows, symbols);
  }
  Registers states = load(state.lanes);
  const Registers offsets = load(lanes.offsets);
  const Registers centres = load(lanes.centres);
  const std::byte* words = state.words;
  std::int64_t row = 0;
  for (; row < rows && state.words_end - words >= kWordRoom; ++row, symbols += kLanes) {
    Registers taken = take(states, offsets, lanes.slots, words);
    for (int i = 0; i < kRegisters; ++i) {
      taken.r[i] = _mm256_add_epi32(_mm256_srai_epi32(taken.r[i], 22), centres.r[i]);
    }
    store_row(taken, symbols);
  }
  store(states, state.lanes);
  state.words = words;
  return kScalarKernels.decode_singles(state, lanes, rows - row, symbols);
}

bool decode_pairs(DecodeState& state, const DecodeLanes& lanes, std::int64_t pairs,
                  std::int16_t* symbols) {
  if (is_for_scalar(state, lanes)) {
    return kScalarKernels.decode_pairs(state, lanes, pairs, symbols);
  }
  Registers states = load(state.lanes);
  const Registers offsets = load(lanes.offsets);
  const Registers centres = load(lanes.centres);
  const std::byte* words = state.words;
  std::int64_t pair = 0;
  for (; pair < pairs && state.words_end - words >= kWordRoom; ++pair, symbols += 2 * kLanes) {
    Registers first = take(states, offsets, lanes.slots, words);
    Registers second;
    for (int i = 0; i < kRegisters; ++i) {
      second.r[i] =
          _mm256_add_epi32(_mm256_srai_epi32(_mm256_slli_epi32(first.r[i], 5), 27), centres.r[i]);
      first.r[i] = _mm256_add_epi32(_mm256_srai_epi32(first.r[i], 27), centres.r[i]);
    }
    store_row(first, symbols);
    store_row(second, symbols + kLanes);
  }
  store(states, state.lanes);
  state.words = words;
  return kScalarKernels.decode_pairs(state, lanes, pairs - pair, symbols);
}

// The ranges and reciprocals of eight places: entries are loaded whole, then parted.
struct Entries {
  __m256i ranges, reciprocals;
};
inline __attribute__((always_inline)) Entries look_up(const EncodingSymbol* symbols,
                                                      __m256i places) {
  const __m128i low = _mm256_castsi256_si128(places);
  const __m128i high = _mm256_extracti128_si256(places, 1);
  const auto two = [symbols](std::int64_t pair) __attribute__((always_inline)) {
    const auto first = static_cast<std::int32_t>(pair);
    const auto second = static_cast<std::int32_t>(pair >> 32);
    return _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(symbols + first)),
                              _mm_loadl_epi64(reinterpret_cast<const __m128i*>(symbols + second)));
  };
  const __m256 a = _mm256_castsi256_ps(
      _mm256_set_m128i(two(_mm_cvtsi128_si64(high)), two(_mm_cvtsi128_si64(low))));
  const __m256 b = _mm256_castsi256_ps(
      _mm256_set_m128i(two(_mm_extract_epi64(high, 1)), two(_mm_extract_epi64(low, 1))));
  return {_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)),
          _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xDD))};
}

// Every lane takes the symbol at its place, the last lanes first: their words go above those of the
// lanes before them.
inline __attribute__((always_inline)) void put(Registers& states, const Registers& places,
                                               const EncodingSymbol* symbols, std::byte*& words) {
  const __m256i low_half = _mm256_set1_epi32(0xFFFF);
  for (int i = kRegisters - 1; i >= 0; --i) {
    __m256i x = states.r[i];
    const auto [range, reciprocal] = look_up(symbols, places.r[i]);
    const __m256i frequency = _mm256_and_si256(range, low_half);
    const __m256i top = _mm256_srli_epi32(x, 32 - kTableBits);
    const __m256i fits = _mm256_cmpgt_epi32(frequency, top);
    const auto gives = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(fits))) ^ 0xFFU;
    const __m256i packed =
        _mm256_permutevar8x32_epi32(x, load_permutation(kPermutations.gather[gives]));
    const __m256i halves = _mm256_and_si256(packed, low_half);
    const __m128i eight =
        _mm_packus_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(words) - 1, eight);
    words -= kWordBytes * __builtin_popcount(gives);
    x = _mm256_blendv_epi8(_mm256_srli_epi32(x, 16), x, fits);

    const __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(x, reciprocal), 32);
    const __m256i odd =
        _mm256_mul_epu32(_mm256_srli_epi64(x, 32), _mm256_srli_epi64(reciprocal, 32));
    __m256i quotient = _mm256_blend_epi32(even, odd, 0xAA);
    __m256i rest = _mm256_sub_epi32(x, _mm256_mullo_epi32(quotient, frequency));
    const __m256i fell_short = _mm256_cmpgt_epi32(frequency, rest);  // rest < 2 * frequency
    quotient = _mm256_sub_epi32(quotient, _mm256_andnot_si256(fell_short, _mm256_set1_epi32(-1)));
    rest = _mm256_sub_epi32(rest, _mm256_andnot_si256(fell_short, frequency));
    states.r[i] = _mm256_add_epi32(
        _mm256_add_epi32(_mm256_slli_epi32(quotient, kTableBits), _mm256_srli_epi32(range, 16)),
        rest);
  }
}

// A row's symbols around their centres.
Registers load_row(const std::int16_t* symbols, const Registers& centres) {
  Registers row;
  for (int i = 0; i < kRegisters; ++i) {
    row.r[i] = _mm256_sub_epi32(
        _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(symbols + 8 * i))),
        centres.r[i]);
  }
  return row;
}

void encode_singles(EncodeState& state, const EncodeLanes& lanes, std::int64_t rows,
                    const std::int16_t* symbols) {
  Registers states = load(state.lanes);
  const Registers offsets = load(lanes.offsets);
  const Registers centres = load(lanes.centres);
  for (std::int64_t row = rows - 1; row >= 0; --row) {
    Registers places = load_row(symbols + row * kLanes, centres);
    for (int i = 0; i < kRegisters; ++i) {
      places.r[i] = _mm256_add_epi32(places.r[i], offsets.r[i]);
    }
    put(states, places, lanes.symbols, state.words);
  }
  store(states, state.lanes);
}

void encode_pairs(EncodeState& state, const EncodeLanes& lanes, std::int64_t pairs,
                  const std::int16_t* symbols) {
  Registers states = load(state.lanes);
  const Registers offsets = load(lanes.offsets);
  const Registers centres = load(lanes.centres);
  for (std::int64_t pair = pairs - 1; pair >= 0; --pair) {
    Registers places = load_row(symbols + 2 * kLanes * pair, centres);
    const Registers seconds = load_row(symbols + 2 * kLanes * pair + kLanes, centres);
    for (int i = 0; i < kRegisters; ++i) {
      places.r[i] = _mm256_add_epi32(
          _mm256_add_epi32(_mm256_slli_epi32(places.r[i], 5), seconds.r[i]), offsets.r[i]);
    }
    put(states, places, lanes.symbols, state.words);
  }
  store(states, state.lanes);
}

}  // namespace
}  // namespace avx2

const Kernels kAvx2Kernels = {avx2::decode_singles, avx2::decode_pairs, avx2::decode_digits,
                              avx2::encode_singles, avx2::encode_pairs, avx2::find_extents,
                              avx2::count,          avx2::find_escape,  avx2::weigh};

}  // namespace sluice::entropy
