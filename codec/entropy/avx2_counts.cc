// What the encoder counts of columns, with AVX2: a row of 32 symbols is two registers.
#include "codec/entropy/avx2_counts.h"

#include <immintrin.h>

namespace sluice::entropy::avx2 {
namespace {

// Adds how often low + first … low + first + 7 stand in each lane. A row is one register of bytes,
// in the order in which packing leaves the lanes; a byte counts to 255 at most.
constexpr int kValues = 8;
void count_values(const std::int16_t* symbols, std::int64_t rows, __m256i low0, __m256i low1,
                  int first, std::int16_t (*counts)[kCostWindow]) {
  const auto* from = reinterpret_cast<const __m256i*>(symbols);
  __m256i sums[kValues];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  for (std::int64_t row = 0; row < rows; ++row) {
    const __m256i places =
        _mm256_packs_epi16(_mm256_subs_epi16(_mm256_loadu_si256(from + 2 * row), low0),
                           _mm256_subs_epi16(_mm256_loadu_si256(from + 2 * row + 1), low1));
    for (int value = 0; value < kValues; ++value) {
      const __m256i is_value =
          _mm256_cmpeq_epi8(places, _mm256_set1_epi8(static_cast<char>(first + value)));
      sums[value] = _mm256_sub_epi8(sums[value], is_value);
    }
  }
  for (int value = 0; value < kValues; ++value) {
    alignas(32) std::uint8_t bytes[kLanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(bytes),
                       _mm256_permute4x64_epi64(sums[value], 0xD8));
    for (int lane = 0; lane < kLanes; ++lane) {
      counts[lane][first + value] =
          static_cast<std::int16_t>(counts[lane][first + value] + bytes[lane]);
    }
  }
}

}  // namespace

void find_extents(const std::int16_t* symbols, std::int64_t rows, std::int16_t (&low)[kLanes],
                  std::int16_t (&high)[kLanes]) {
  const auto* from = reinterpret_cast<const __m256i*>(symbols);
  __m256i low0 = _mm256_loadu_si256(from), high0 = low0;
  __m256i low1 = _mm256_loadu_si256(from + 1), high1 = low1;
  for (std::int64_t row = 1; row < rows; ++row) {
    const __m256i first = _mm256_loadu_si256(from + 2 * row);
    const __m256i second = _mm256_loadu_si256(from + 2 * row + 1);
    low0 = _mm256_min_epi16(low0, first);
    high0 = _mm256_max_epi16(high0, first);
    low1 = _mm256_min_epi16(low1, second);
    high1 = _mm256_max_epi16(high1, second);
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(low), low0);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(low) + 1, low1);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(high), high0);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(high) + 1, high1);
}

void count(const std::int16_t* symbols, std::int64_t rows, const std::int16_t (&low)[kLanes],
           int span, std::int16_t (*counts)[kCostWindow]) {
  const __m256i low0 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(low));
  const __m256i low1 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(low) + 1);
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < span; ++i) counts[lane][i] = 0;
  }
  constexpr std::int64_t kMaxRows = 255;
  for (std::int64_t row = 0; row < rows; row += kMaxRows) {
    const std::int64_t these = rows - row < kMaxRows ? rows - row : kMaxRows;
    for (int first = 0; first < span; first += kValues) {
      count_values(symbols + row * kLanes, these, low0, low1, first, counts);
    }
  }
}

std::int64_t find_escape(const std::int16_t* symbols, std::int64_t row, std::int64_t rows,
                         const EscapeLanes& lanes) {
  const auto load = [](const std::int16_t* at, int i) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at) + i);
  };
  const __m256i one = _mm256_set1_epi16(1);
  __m256i centres[2], lows[2], highs[2];
  for (int i = 0; i < 2; ++i) {
    centres[i] = load(lanes.centres, i);
    lows[i] = _mm256_add_epi16(load(lanes.lows, i), one);
    highs[i] = _mm256_sub_epi16(load(lanes.highs, i), one);
  }
  for (; row < rows; ++row) {
    __m256i found = _mm256_setzero_si256();
    for (int i = 0; i < 2; ++i) {
      const __m256i relative = _mm256_sub_epi16(load(symbols + row * kLanes, i), centres[i]);
      found = _mm256_or_si256(found, _mm256_cmpgt_epi16(relative, highs[i]));
      found = _mm256_or_si256(found, _mm256_cmpgt_epi16(lows[i], relative));
    }
    if (_mm256_testz_si256(found, found) == 0) return row;
  }
  return rows;
}

std::int32_t weigh(const std::int16_t* counts, const std::int16_t* costs, int span) {
  __m256i sums = _mm256_setzero_si256();
  for (int i = 0; i < span; i += 16) {
    sums = _mm256_add_epi32(
        sums, _mm256_madd_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(counts + i)),
                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(costs + i))));
  }
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1));
  return _mm_cvtsi128_si32(four);
}

}  // namespace sluice::entropy::avx2
