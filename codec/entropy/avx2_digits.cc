// Ternary digits with AVX2: a lane's table is picked by its coarse symbol, its digit by
// comparisons.
#include "codec/entropy/avx2_digits.h"

#include <immintrin.h>

#include "codec/entropy/avx2_lanes.h"

namespace sluice::entropy::avx2 {
namespace {

// Of eight lanes, per context.
struct Tables {
  __m256i of_context[kNumDigitContexts];
};
inline __attribute__((always_inline)) Tables load_tables(const DigitLanes& lanes, int i) {
  Tables tables;
  for (int context = 0; context < kNumDigitContexts; ++context) {
    tables.of_context[context] =
        _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes.tables[context] + 8 * i));
  }
  return tables;
}

// One step of eight lanes, before their refill: states move on, `coarse` becomes finer.
inline __attribute__((always_inline)) void take(__m256i& x, const Tables& tables, __m256i& coarse) {
  const __m256i size = _mm256_abs_epi32(coarse);
  __m256i table = tables.of_context[0];
  for (int context = 1; context < kNumDigitContexts; ++context) {
    const __m256i is_larger = _mm256_cmpgt_epi32(size, _mm256_set1_epi32(context - 1));
    table = _mm256_blendv_epi8(table, tables.of_context[context], is_larger);
  }
  const __m256i zero = _mm256_and_si256(table, _mm256_set1_epi32(0xFFFF));
  const __m256i one = _mm256_srli_epi32(table, 16);
  const __m256i place = _mm256_and_si256(x, _mm256_set1_epi32(kSlotMask));
  const __m256i below_zero = _mm256_cmpgt_epi32(zero, place);  // the digit is -1
  const __m256i below_one = _mm256_cmpgt_epi32(one, place);    // or 0
  const __m256i begin = _mm256_blendv_epi8(one, _mm256_andnot_si256(below_zero, zero), below_one);
  const __m256i end = _mm256_blendv_epi8(
      _mm256_blendv_epi8(_mm256_set1_epi32(kTableSlots), one, below_one), zero, below_zero);
  const __m256i moved =
      _mm256_mullo_epi32(_mm256_sub_epi32(end, begin), _mm256_srli_epi32(x, kTableBits));
  x = _mm256_add_epi32(moved, _mm256_sub_epi32(place, begin));
  // 1 - (digit <= 0) - (digit <= -1); then as seen from zero, where 0 counts as positive.
  const __m256i one_each = _mm256_set1_epi32(1);
  const __m256i digit = _mm256_add_epi32(one_each, _mm256_add_epi32(below_zero, below_one));
  const __m256i turned = _mm256_sign_epi32(digit, _mm256_or_si256(coarse, one_each));
  coarse = _mm256_add_epi32(_mm256_add_epi32(coarse, _mm256_slli_epi32(coarse, 1)), turned);
}

}  // namespace

bool decode_digits(DecodeState& state, const DigitLanes& lanes, std::int64_t rows,
                   std::int16_t* symbols) {
  if (has_low_unused_lane(state, lanes.used)) {
    return kScalarKernels.decode_digits(state, lanes, rows, symbols);
  }
  Registers states = load(state.lanes);
  Tables tables[kRegisters];
  for (int i = 0; i < kRegisters; ++i) tables[i] = load_tables(lanes, i);
  const std::byte* words = state.words;
  std::int64_t row = 0;
  for (; row < rows && state.words_end - words >= kWordRoom; ++row, symbols += kLanes) {
    Registers refined;
    for (int i = 0; i < kRegisters; ++i) {
      refined.r[i] =
          _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(symbols + 8 * i)));
      take(states.r[i], tables[i], refined.r[i]);
    }
    refill(states, words);
    store_row(refined, symbols);
  }
  store(states, state.lanes);
  state.words = words;
  return kScalarKernels.decode_digits(state, lanes, rows - row, symbols);
}

}  // namespace sluice::entropy::avx2
