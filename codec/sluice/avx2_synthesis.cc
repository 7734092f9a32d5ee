// Sums over a basis: four coefficients of eight channels to an instruction of 8-bit products.
// Where in the flow: decoders with a model profile of blocks; nearly all of their time.
// Surprise: 8-bit products want one factor unsigned and small, so symbols are clamped to +-31 and
// raised by 32; what 32 times the basis adds is known, and what clamping takes away is added
// symbol by symbol. All of it is exact: pairs of products fit 16 bits two at a time, sums wrap.
#include <immintrin.h>

#include <cstring>

#include "codec/sluice/avx2_decode.h"

namespace sluice::ladder::avx2 {
namespace {

constexpr std::int64_t kStep = 8;          // channels of a register of sums
constexpr std::int64_t kQuad = 4;          // coefficients of a 32-bit lane
constexpr std::int64_t kQuadsAtOnce = 2;   // summed in 16 bits: 2 * 2 * 63 * 128 < 2^15
constexpr std::int64_t kRowsAtOnce = 64;   // that share packed factors
constexpr std::int64_t kMostAtOnce = 512;  // coefficients
constexpr std::int16_t kRaise = 32, kClamp = kRaise - 1;
// A coefficient that is added alone costs as much as about six among all.
constexpr std::int64_t kLoneCost = 6;

static inline __m256i load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

constexpr std::int64_t kStepCoefficients = kQuad * kQuadsAtOnce;
static inline std::int64_t whole_steps(std::int64_t coefficients) {
  return (coefficients + kStepCoefficients - 1) / kStepCoefficients;
}

// Some rows' symbols of some coefficients, in bytes, and those that the bytes do not hold.
struct ByteRows {
  alignas(32) std::uint8_t bytes[kRowsAtOnce][kMostAtOnce];
  std::int16_t lone[kRowsAtOnce][kMostAtOnce];  // indices of coefficients to add alone
  std::int16_t num_lone[kRowsAtOnce];
  bool has_bytes[kRowsAtOnce];  // else all that is not 0 is added alone
};

static inline std::int64_t least(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

static inline __m128i eight_symbols(const std::int16_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

// Raises and clamps a row of `count` symbols, a multiple of 8. Says how many are not 0, and whether
// clamping took something away.
struct Narrowed {
  std::int64_t num_used;
  bool has_rest;
};
static Narrowed narrow(const std::int16_t* symbols, std::int64_t count, std::uint8_t* bytes) {
  const __m128i high = _mm_set1_epi16(kClamp), low = _mm_set1_epi16(-kClamp);
  const __m128i raise = _mm_set1_epi16(kRaise);
  __m128i rests = _mm_setzero_si128();
  std::int64_t zeros = 0;
  for (std::int64_t j = 0; j < count; j += kStep) {
    const __m128i eight = eight_symbols(symbols + j);
    const __m128i clamped = _mm_max_epi16(_mm_min_epi16(eight, high), low);
    rests = _mm_or_si128(rests, _mm_xor_si128(eight, clamped));
    const __m128i raised = _mm_add_epi16(clamped, raise);
    const __m128i packed = _mm_packus_epi16(raised, raised);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(bytes + j), packed);
    const auto is_zero = static_cast<unsigned>(
        _mm_movemask_epi8(_mm_cmpeq_epi8(packed, _mm_set1_epi8(static_cast<char>(kRaise)))));
    zeros += __builtin_popcount(is_zero & 0xFF);
  }
  std::memset(bytes + count, 0,
              static_cast<std::size_t>(whole_steps(count) * kStepCoefficients - count));
  return {count - zeros, _mm_testz_si128(rests, rests) == 0};
}

// The indices of those beyond +-limit.
static std::int64_t list_beyond(const std::int16_t* symbols, std::int64_t count, std::int16_t limit,
                                std::int16_t* list) {
  std::int64_t listed = 0;
  for (std::int64_t j = 0; j < count; j += kStep) {
    const __m128i size = _mm_abs_epi16(eight_symbols(symbols + j));
    // As unsigned numbers: -32768 stays beyond everything.
    const __m128i is_within = _mm_cmpeq_epi16(size, _mm_min_epu16(size, _mm_set1_epi16(limit)));
    for (unsigned found = static_cast<unsigned>(_mm_movemask_epi8(is_within)) ^ 0xFFFFU;
         found != 0;) {
      const int bit = __builtin_ctz(found);
      list[listed++] = static_cast<std::int16_t>(j + bit / 2);
      found &= ~(3U << bit);
    }
  }
  return listed;
}

static void narrow_row(const std::int16_t* symbols, std::int64_t count, ByteRows& rows,
                       std::int64_t row) {
  const auto [num_used, has_rest] = narrow(symbols, count, rows.bytes[row]);
  rows.has_bytes[row] = num_used * kLoneCost > count;
  std::int64_t listed = 0;
  if (!rows.has_bytes[row]) {
    listed = list_beyond(symbols, count, 0, rows.lone[row]);
  } else if (has_rest) {
    listed = list_beyond(symbols, count, kClamp, rows.lone[row]);
  }
  rows.num_lone[row] = static_cast<std::int16_t>(listed);
}

// The factors of up to kMostAtOnce coefficients and kParts * 8 channels: [quad][part][channel][4],
// zeros up to a whole number of kQuadsAtOnce.
template <int kParts>
struct Factors {
  alignas(32) std::int8_t quads[kMostAtOnce / kQuad][kParts][kStep][kQuad];
  __m256i raised[kParts];  // what raising the symbols adds, times -1
  std::int64_t num_quads;

  void pack(const std::int8_t* basis, std::int64_t width, std::int64_t count) {
    const __m256i ones16 = _mm256_set1_epi16(1);
    const __m256i raise = _mm256_set1_epi8(static_cast<char>(kRaise));
    num_quads = whole_steps(count) * kQuadsAtOnce;
    for (auto& part : raised) part = _mm256_setzero_si256();
    for (std::int64_t quad = 0; quad < num_quads; ++quad) {
      for (int part = 0; part < kParts; ++part) {
        const __m256i packed = quad * kQuad < count
                                   ? quad_of(basis + quad * kQuad * width + part * kStep, width)
                                   : _mm256_setzero_si256();
        _mm256_store_si256(reinterpret_cast<__m256i*>(quads[quad][part]), packed);
        const __m256i sums = _mm256_madd_epi16(_mm256_maddubs_epi16(raise, packed), ones16);
        raised[part] = _mm256_sub_epi32(raised[part], sums);
      }
    }
  }

 private:
  // Four rows of eight, `width` apart. `count` is a multiple of 8, so four are always there.
  static inline __m256i quad_of(const std::int8_t* rows, std::int64_t width) {
    const auto row = [&](std::int64_t j) {
      return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(rows + j * width));
    };
    const __m128i low = _mm_unpacklo_epi8(row(0), row(1));
    const __m128i high = _mm_unpacklo_epi8(row(2), row(3));
    return _mm256_set_m128i(_mm_unpackhi_epi16(low, high), _mm_unpacklo_epi16(low, high));
  }
};

// Adds the sums of kParts * 8 channels of one row.
template <int kParts>
static inline void add_bytes(const std::uint8_t* symbols, const Factors<kParts>& factors,
                             std::int32_t* sums) {
  const __m256i ones16 = _mm256_set1_epi16(1);
  __m256i sum[kParts];
  for (int part = 0; part < kParts; ++part)
    sum[part] = _mm256_add_epi32(load(sums + part * kStep), factors.raised[part]);
  for (std::int64_t quad = 0; quad < factors.num_quads; quad += kQuadsAtOnce) {
    __m256i some[kParts];
    for (int i = 0; i < kQuadsAtOnce; ++i) {
      std::int32_t four;
      std::memcpy(&four, symbols + (quad + i) * kQuad, sizeof four);
      const __m256i both = _mm256_set1_epi32(four);
      for (int part = 0; part < kParts; ++part) {
        const __m256i products = _mm256_maddubs_epi16(both, load(factors.quads[quad + i][part]));
        some[part] = i == 0 ? products : _mm256_add_epi16(some[part], products);
      }
    }
    for (int part = 0; part < kParts; ++part)
      sum[part] = _mm256_add_epi32(sum[part], _mm256_madd_epi16(some[part], ones16));
  }
  for (int part = 0; part < kParts; ++part)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + part * kStep), sum[part]);
}

template <int kParts>
static void add_channels(const ByteRows& rows, std::int64_t num_rows, std::int64_t stride,
                         const std::int8_t* basis, std::int64_t width, std::int64_t count,
                         std::int32_t* sums) {
  Factors<kParts> factors;
  factors.pack(basis, width, count);
  for (std::int64_t row = 0; row < num_rows; ++row) {
    if (rows.has_bytes[row]) add_bytes(rows.bytes[row], factors, sums + row * stride);
  }
}

// Two symbols that are added among themselves, and their rows of the basis.
struct LonePair {
  std::int32_t symbols;  // the first in the low half
  const std::int8_t* first;
  const std::int8_t* second;
};

// What is left of a row's listed symbols.
static std::int64_t pair_up(const std::int16_t* symbols, const ByteRows& rows, std::int64_t row,
                            const std::int8_t* basis, std::int64_t width, LonePair* pairs) {
  const auto rest_of = [&](std::int64_t j) {
    const std::int32_t symbol = symbols[j];
    const std::int32_t taken = !rows.has_bytes[row] ? 0
                               : symbol > kClamp    ? kClamp
                               : symbol < -kClamp   ? -kClamp
                                                    : symbol;
    return std::uint32_t{static_cast<std::uint16_t>(symbol - taken)};
  };
  const std::int16_t* const list = rows.lone[row];
  const std::int64_t count = rows.num_lone[row];
  for (std::int64_t i = 0; i < count; i += 2) {
    const bool is_pair = i + 1 < count;
    const std::int64_t first = list[i], second = is_pair ? list[i + 1] : first;
    const std::uint32_t both = rest_of(first) | (is_pair ? rest_of(second) << 16 : 0U);
    pairs[i / 2] = {static_cast<std::int32_t>(both), basis + first * width, basis + second * width};
  }
  return (count + 1) / 2;
}

// Adds kParts * 16 channels from `c` on.
template <int kParts>
static inline void add_lone_channels(const LonePair* pairs, std::int64_t count, std::int64_t c,
                                     std::int32_t* sums) {
  const auto sixteen = [](const std::int8_t* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  __m256i sum[2 * kParts];
  for (int i = 0; i < 2 * kParts; ++i) sum[i] = load(sums + c + i * kStep);
  for (std::int64_t i = 0; i < count; ++i) {
    const __m256i symbols = _mm256_set1_epi32(pairs[i].symbols);
    for (int part = 0; part < kParts; ++part) {
      const __m128i first = sixteen(pairs[i].first + c + part * 2 * kStep);
      const __m128i second = sixteen(pairs[i].second + c + part * 2 * kStep);
      const __m256i low = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(first, second));
      const __m256i high = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(first, second));
      sum[2 * part] = _mm256_add_epi32(sum[2 * part], _mm256_madd_epi16(symbols, low));
      sum[2 * part + 1] = _mm256_add_epi32(sum[2 * part + 1], _mm256_madd_epi16(symbols, high));
    }
  }
  for (int i = 0; i < 2 * kParts; ++i)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + c + i * kStep), sum[i]);
}

// Eight, the last of a block.
static void add_lone_rest(const LonePair* pairs, std::int64_t count, std::int64_t c,
                          std::int32_t* sums) {
  const auto eight = [](const std::int8_t* from) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  };
  __m256i sum = load(sums + c);
  for (std::int64_t i = 0; i < count; ++i) {
    const __m128i factors =
        _mm_unpacklo_epi8(eight(pairs[i].first + c), eight(pairs[i].second + c));
    sum = _mm256_add_epi32(
        sum, _mm256_madd_epi16(_mm256_set1_epi32(pairs[i].symbols), _mm256_cvtepi8_epi16(factors)));
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + c), sum);
}

// What bytes do not hold.
static void add_lone(const LonePair* pairs, std::int64_t count, std::int64_t width,
                     std::int32_t* sums) {
  constexpr int kParts = 4;
  constexpr std::int64_t kSixteen = 2 * kStep;
  std::int64_t c = 0;
  for (; c + kParts * kSixteen <= width; c += kParts * kSixteen)
    add_lone_channels<kParts>(pairs, count, c, sums);
  for (; c + kSixteen <= width; c += kSixteen) add_lone_channels<1>(pairs, count, c, sums);
  if (c < width) add_lone_rest(pairs, count, c, sums);
}

// Adds up to kMostAtOnce coefficients from `first` on to up to kRowsAtOnce rows.
static void add_coefficients(const std::int16_t* symbols, std::int64_t num_rows,
                             std::int64_t stride, std::int64_t count, const std::int8_t* basis,
                             std::int64_t width, std::int32_t* sums) {
  ByteRows rows;
  for (std::int64_t row = 0; row < num_rows; ++row)
    narrow_row(symbols + row * stride, count, rows, row);
  constexpr int kParts = 4;
  std::int64_t c = 0;
  for (; c + kParts * kStep <= width; c += kParts * kStep)
    add_channels<kParts>(rows, num_rows, stride, basis + c, width, count, sums + c);
  for (; c < width; c += kStep)
    add_channels<1>(rows, num_rows, stride, basis + c, width, count, sums + c);
  LonePair pairs[kMostAtOnce / 2];
  for (std::int64_t row = 0; row < num_rows; ++row) {
    const std::int64_t num_pairs = pair_up(symbols + row * stride, rows, row, basis, width, pairs);
    if (num_pairs > 0) add_lone(pairs, num_pairs, width, sums + row * stride);
  }
}

}  // namespace

void synthesise(const std::int16_t* symbols, std::int64_t rows, std::int64_t stride,
                const BlockBasis& basis, std::int32_t* sums) {
  const std::int64_t width = basis.width;
  if (width % kStep != 0) return kScalarKernels.synthesise(symbols, rows, stride, basis, sums);
  for (std::int64_t row = 0; row < rows; ++row)
    std::memset(sums + row * stride, 0, static_cast<std::size_t>(width) * sizeof *sums);
  for (std::int64_t first = 0; first < width; first += kMostAtOnce) {
    const std::int64_t count = least(kMostAtOnce, width - first);
    for (std::int64_t row = 0; row < rows; row += kRowsAtOnce) {
      add_coefficients(symbols + row * stride + first, least(kRowsAtOnce, rows - row), stride,
                       count, basis.factors + first * width, width, sums + row * stride);
    }
  }
}

}  // namespace sluice::ladder::avx2
