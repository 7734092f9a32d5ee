// Planes of ternary digits, which refine symbols that are known: every shape, shift and damage, and
// what they cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "base/units.h"
#include "codec/entropy/binding.h"
#include "codec/entropy/digit_lanes.h"

namespace sluice::entropy {
namespace {

using Symbols = std::vector<std::int16_t>;

// Symbols of a coarse step, the digits below them, and the symbols of a third of the step.
struct Split {
  std::int64_t rows = 0, columns = 0;
  Symbols coarse, fine;
  std::vector<std::int8_t> digits;

  void add(std::int32_t fine_symbol) {
    const auto coarse_symbol = static_cast<std::int32_t>(std::lround(fine_symbol / 3.0));
    fine.push_back(static_cast<std::int16_t>(fine_symbol));
    coarse.push_back(static_cast<std::int16_t>(coarse_symbol));
    digits.push_back(static_cast<std::int8_t>(fine_symbol - 3 * coarse_symbol));
  }
  [[nodiscard]] SymbolMatrix matrix() const { return {rows, columns, coarse}; }
};

enum class Shape { kNormal, kLaplace };

double draw(RandomStream& random, Shape shape) {
  if (shape == Shape::kNormal) return random.normal(0, 1);
  const double size = -std::log(1 - random.uniform()) / std::sqrt(2.0);  // variance 1
  return random.bernoulli(0.5) ? size : -size;
}

// Column c has a standard deviation of sigma * 2^(c % 5 / 4), row r of 2^(shift / 4) times that, in
// fine steps.
Split made_split(std::int64_t rows, std::int64_t columns, double sigma, Shape shape,
                 std::span<const std::int8_t> shifts = {}) {
  RandomStream random(21, "digits", static_cast<std::uint64_t>(rows * 1000 + columns));
  Split split{.rows = rows, .columns = columns, .coarse = {}, .fine = {}, .digits = {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    const int shift = shifts.empty() ? 0 : shifts[static_cast<std::size_t>(row)];
    for (std::int64_t column = 0; column < columns; ++column) {
      const double width = sigma * std::exp2((static_cast<double>(column % 5) + shift) / 4);
      const double fine = std::clamp(std::round(width * draw(random, shape)), -32767.0, 32767.0);
      split.add(static_cast<std::int32_t>(fine));
    }
  }
  return split;
}

void expect_round_trip(const Split& split, PlaneOptions options = {}) {
  options.backend = Backend::kScalar;
  const EncodedPlane plane = encode_digits(split.matrix(), split.digits, options);
  EXPECT_EQ(plane.stats.coded_bytes, static_cast<std::int64_t>(plane.bytes.size()));
  std::vector<std::byte> bytes = plane.bytes;
  bytes.resize(bytes.size() + 100, std::byte{0xA5});  // what follows in a section
  for (const Backend backend : available_backends()) {
    SCOPED_TRACE(to_text(backend));
    options.backend = backend;
    EXPECT_EQ(encode_digits(split.matrix(), split.digits, options).bytes, plane.bytes);
    Symbols symbols = split.coarse;
    const auto taken = decode_digits(bytes, split.rows, split.columns, options, symbols);
    ASSERT_TRUE(taken.ok()) << taken.error().to_line();
    EXPECT_EQ(*taken, plane.bytes.size());
    EXPECT_EQ(symbols, split.fine);
  }
}

double bits_of(const EncodedPlane& plane) {
  return static_cast<double>(DataSize::bytes(plane.stats.coded_bytes).bits());
}

TEST(EntropyDigits, EveryShapeComesBack) {
  for (const std::int64_t rows : {0, 1, 2, 31, 257, 2050}) {
    for (const std::int64_t columns : {0, 1, 31, 32, 33, 200}) {
      expect_round_trip(made_split(rows, columns, 1.5, Shape::kNormal));
    }
  }
  // More columns than a tile has places for.
  expect_round_trip(made_split(2048, 544, 0.4, Shape::kLaplace));
}

TEST(EntropyDigits, EveryShiftComesBack) {
  std::vector<std::int8_t> shifts;
  for (int shift = -128; shift <= 127; ++shift) shifts.push_back(static_cast<std::int8_t>(shift));
  expect_round_trip(made_split(256, 37, 2.0, Shape::kLaplace, shifts), {.row_shifts = shifts});
  for (const std::int8_t shift : shifts) {
    const std::vector<std::int8_t> one(9, shift);
    expect_round_trip(made_split(9, 3, 1.0, Shape::kNormal), {.row_shifts = one});
  }
}

TEST(EntropyDigits, AnyDigitsOfAnySymbolsComeBackModulo65536) {
  RandomStream random(22, "digits", 0);
  Split split{.rows = 300, .columns = 40, .coarse = {}, .fine = {}, .digits = {}};
  for (int i = 0; i < 300 * 40; ++i) {
    const auto coarse = static_cast<std::int32_t>(random.below(65536)) - 32768;
    const auto digit = static_cast<std::int32_t>(random.below(3)) - 1;
    split.coarse.push_back(static_cast<std::int16_t>(coarse));
    split.digits.push_back(static_cast<std::int8_t>(digit));
    split.fine.push_back(static_cast<std::int16_t>(3 * coarse + digit));
  }
  expect_round_trip(split);
}

// The bits of the digits if each were coded with its own probability under a known source, given
// the coarse symbol.
double ideal_bits(const Split& split, double sigma, Shape shape) {
  const auto below = [&](double x) {
    if (shape == Shape::kNormal) return 0.5 * std::erfc(-x / std::sqrt(2.0));
    const double tail = 0.5 * std::exp(-std::sqrt(2.0) * std::fabs(x));
    return x < 0 ? tail : 1 - tail;
  };
  double bits = 0;
  for (std::size_t i = 0; i < split.fine.size(); ++i) {
    const double width = sigma * std::exp2(static_cast<double>(i % 5) / 4);
    const double fine = -std::abs(split.fine[i]);  // towards the side where tails are exact
    const double coarse = 3.0 * -std::abs(split.coarse[i]);
    const double third = below((fine + 0.5) / width) - below((fine - 0.5) / width);
    const double whole = below((coarse + 1.5) / width) - below((coarse - 1.5) / width);
    bits -= std::log2(third / whole);
  }
  return bits;
}

TEST(EntropyDigits, CostAtMostOnePercentMoreThanTheirProbabilitiesSay) {
  // 1500 rows of 160 columns, sigmas from 0.4 to 0.8, from 1 to 2, from 4 to 8 fine steps.
  for (const double sigma : {0.4, 1.0, 4.0}) {
    for (const Shape shape : {Shape::kNormal, Shape::kLaplace}) {
      const Split split = made_split(1500, 160, sigma, shape);
      const double bits = bits_of(encode_digits(split.matrix(), split.digits, {}));
      const double ideal = ideal_bits(split, sigma, shape);
      EXPECT_LT(bits, 1.01 * ideal) << sigma;
      EXPECT_GT(bits, 0.99 * ideal) << sigma;
    }
  }
}

TEST(EntropyDigits, ABaseAndItsDigitsCostAtMostTwoPercentMoreThanTheFineSymbolsAtOnce) {
  for (const double sigma : {0.6, 1.5, 4.0}) {
    for (const Shape shape : {Shape::kNormal, Shape::kLaplace}) {
      const Split split = made_split(1500, 160, sigma, shape);
      const PlaneOptions options{.prefers_tall_tiles = true};
      const double at_once = bits_of(encode_plane({1500, 160, split.fine}, options));
      const double in_layers = bits_of(encode_plane(split.matrix(), options)) +
                               bits_of(encode_digits(split.matrix(), split.digits, options));
      EXPECT_LT(in_layers, 1.02 * at_once) << sigma;
    }
  }
}

TEST(EntropyDigits, KnowingTheShiftOfARowSavesBits) {
  std::vector<std::int8_t> shifts;
  for (int row = 0; row < 1024; ++row) shifts.push_back(static_cast<std::int8_t>(row % 4 * 4 - 8));
  const Split split = made_split(1024, 96, 0.8, Shape::kNormal, shifts);
  EXPECT_LT(bits_of(encode_digits(split.matrix(), split.digits, {.row_shifts = shifts})),
            0.97 * bits_of(encode_digits(split.matrix(), split.digits, {})));
}

TEST(EntropyDigits, DigitsThatAreAll0CostTwelveBytesPerTile) {
  Split split{.rows = 1500, .columns = 320, .coarse = {}, .fine = {}, .digits = {}};
  for (int i = 0; i < 1500 * 320; ++i) split.add(0);
  EXPECT_EQ(encode_digits(split.matrix(), split.digits, {}).bytes.size(), 8U + 4U);
  expect_round_trip(split);
  // One digit that is not: 320 columns of 1500 rows at 2046 of 2048 slots, 0.0014 bit each, make 85
  // bytes; 32 states of 4 bytes and 2 bits for the shape of each column another 208.
  split.digits[777] = 1;
  split.fine[777] = static_cast<std::int16_t>(split.fine[777] + 1);
  expect_round_trip(split);
  EXPECT_LT(encode_digits(split.matrix(), split.digits, {}).bytes.size(), 350U);
}

TEST(EntropyDigits, TheTablesAreThoseOfTheirDensities) {
  const DigitFamily& family = digit_family();
  const auto counts = [&](int shape, int scale, int context) {
    const DigitTable table = family.tables[shape][scale][context];
    const std::uint32_t zero = table & 0xFFFF, one = table >> 16;
    return std::vector<std::uint32_t>{zero, one - zero, kTableSlots - one};
  };
  // Laplace, sigma 0.03 * 2^(20/4) = 0.96: thirds of a bin are exp(-sqrt(2) / 0.96 / 3) = 0.612 of
  // each other in every bin but 0: 1 / (1 + 0.612 + 0.612^2) = 0.503 of 2048 is 1031.
  for (const int context : {1, 2, 3}) {
    EXPECT_THAT(counts(2, 20, context), ::testing::ElementsAre(1031, 631, 386));
  }
  // A wide column has thirds of 682 2/3 slots.
  EXPECT_THAT(counts(0, 31, 0), ::testing::ElementsAre(682, 684, 682));
  // Outliers of a narrow one have 16 slots at least, digits of its zeros one.
  EXPECT_THAT(counts(0, 0, 0), ::testing::ElementsAre(1, 2046, 1));
  EXPECT_THAT(counts(0, 0, 3), ::testing::ElementsAre(2016, 16, 16));
}

TEST(EntropyDigits, ADigitSlotSaysWhatItsTableSays) {
  const DigitTable table = pack_digits(500, 1000);  // -1: 0 to 499, 0: 500 to 1499, 1: the rest
  for (std::uint32_t place = 0; place < kTableSlots; ++place) {
    const std::int32_t digit = place < 500 ? -1 : place < 1500 ? 0 : 1;
    const std::uint32_t first = digit < 0 ? 0 : digit == 0 ? 500 : 1500;
    const std::uint32_t count = digit < 0 ? 500 : digit == 0 ? 1000 : 548;
    ASSERT_EQ(digit_slot(table, place), pack_slot(digit, count, place - first));
  }
}

// The example of spec.md, section 9.
TEST(EntropyDigits, TheExampleOfTheSpecification) {
  const std::vector<std::int8_t> digits = {1};
  const Symbols coarse = {-1};
  const auto bytes = encode_digits({1, 1, coarse}, digits, {}).bytes;
  std::string text;
  for (const std::byte byte : bytes) {
    text += "0123456789ABCDEF"[std::to_integer<unsigned>(byte) >> 4];
    text += "0123456789ABCDEF"[std::to_integer<unsigned>(byte) & 15];
  }
  EXPECT_EQ(text, "030001000100000006000000000800100400");
}

Status decode_status(std::span<const std::byte> bytes, const Split& split) {
  Symbols symbols = split.coarse;
  const auto taken = decode_digits(bytes, split.rows, split.columns, {}, symbols);
  if (!taken) return taken.error();
  return {};
}

TEST(EntropyDigits, EveryTruncationIsAnError) {
  const Split split = made_split(90, 40, 1.5, Shape::kNormal);
  const auto bytes = encode_digits(split.matrix(), split.digits, {}).bytes;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(),
                                     bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(decode_status(cut, split).ok()) << size << " of " << bytes.size();
  }
  EXPECT_TRUE(decode_status(bytes, split).ok());
}

TEST(EntropyDigits, FlippedBitsNeverCrashAndNearlyAllAreNoticed) {
  const Split split = made_split(60, 34, 1.5, Shape::kNormal);
  auto bytes = encode_digits(split.matrix(), split.digits, {}).bytes;
  std::int64_t flips = 0, noticed = 0;
  for (std::byte& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= std::byte{1} << bit;
      noticed += decode_status(bytes, split).ok() ? 0 : 1;
      ++flips;
      byte ^= std::byte{1} << bit;
    }
  }
  EXPECT_GT(static_cast<double>(noticed) / static_cast<double>(flips), 0.5);
}

TEST(EntropyDigits, RandomBytesNeverCrashAndMeanTheSameToEveryBackend) {
  RandomStream random(23, "digits", 0);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes(random.below(400));
    for (auto& byte : bytes) byte = static_cast<std::byte>(random.below(256));
    const auto rows = 1 + static_cast<std::int64_t>(random.below(20));
    const auto columns = 1 + static_cast<std::int64_t>(random.below(40));
    if (bytes.size() >= 16 && i % 4 != 0) {  // a header that gets past the first checks
      const std::vector<std::size_t> header = {3,
                                               0,
                                               static_cast<std::size_t>(columns),
                                               0,
                                               static_cast<std::size_t>(rows),
                                               0,
                                               0,
                                               0,
                                               (bytes.size() - 12) & 255,
                                               (bytes.size() - 12) >> 8,
                                               0,
                                               0,
                                               random.below(40)};
      for (std::size_t at = 0; at < header.size(); ++at) bytes[at] = std::byte(header[at]);
    }
    std::vector<std::string> outcomes;
    std::vector<Symbols> symbols;
    for (const Backend backend : available_backends()) {
      Symbols refined(static_cast<std::size_t>(rows * columns), 1);
      const auto taken = decode_digits(bytes, rows, columns, {.backend = backend}, refined);
      outcomes.push_back(taken ? std::to_string(*taken) : taken.error().what);
      symbols.push_back(taken ? refined : Symbols{});
    }
    EXPECT_EQ(outcomes.front(), outcomes.back());
    EXPECT_EQ(symbols.front(), symbols.back());
  }
}

TEST(EntropyDigits, DigitsAndSymbolsAreNotTakenForEachOther) {
  const Split split = made_split(60, 34, 1.5, Shape::kNormal);
  const auto digits = encode_digits(split.matrix(), split.digits, {}).bytes;
  const auto base = encode_plane(split.matrix(), {}).bytes;
  Symbols symbols = split.coarse;
  const auto as_symbols = decode_plane(digits, 60, 34, {}, symbols);
  ASSERT_FALSE(as_symbols.ok());
  EXPECT_THAT(as_symbols.error().what, ::testing::HasSubstr("a plane of digits"));
  const auto as_digits = decode_digits(base, 60, 34, {}, symbols);
  ASSERT_FALSE(as_digits.ok());
  EXPECT_THAT(as_digits.error().what, ::testing::HasSubstr("a plane of symbols"));
}

TEST(EntropyTallTiles, ColumnModelsArePaidOnceForAllRows) {
  const Split split = made_split(1536, 96, 1.0, Shape::kNormal);
  const SymbolMatrix fine{1536, 96, split.fine};
  const auto tall = encode_plane(fine, {.prefers_tall_tiles = true});
  const auto usual = encode_plane(fine, {});
  // Three tiles of 1536 x 32 instead of two of 768 x 96: rows from byte 4 of the header on.
  EXPECT_EQ(std::to_integer<int>(tall.bytes[5]) * 256, 1536);
  EXPECT_EQ(std::to_integer<int>(tall.bytes[2]), 32);
  EXPECT_LT(tall.stats.coded_bytes, usual.stats.coded_bytes + 2 * 32 * 4);
  for (const std::int64_t rows : {1, 33, 2049, 5000}) {
    const Split odd = made_split(rows, 70, 1.0, Shape::kNormal);
    const auto bytes = encode_plane({rows, 70, odd.fine}, {.prefers_tall_tiles = true}).bytes;
    Symbols symbols(odd.fine.size());
    ASSERT_TRUE(decode_plane(bytes, rows, 70, {}, symbols).ok());
    EXPECT_EQ(symbols, odd.fine);
  }
}

TEST(EntropyTallTiles, ATileOfZerosIsEmpty) {
  Symbols zeros(1024 * 128);
  const auto bytes = encode_plane({1024, 128, zeros}, {.prefers_tall_tiles = true}).bytes;
  EXPECT_EQ(bytes.size(), 1024U * 128 / 256);  // 8 + 2 * 4 bytes, padded to the floor
  zeros.back() = 5;
  const auto one = encode_plane({1024, 128, zeros}, {.prefers_tall_tiles = true}).bytes;
  Symbols symbols(zeros.size(), 99);
  ASSERT_TRUE(decode_plane(one, 1024, 128, {}, symbols).ok());
  EXPECT_EQ(symbols, zeros);
  EXPECT_EQ(std::to_integer<int>(one[8]), 0);  // the first tile's length
  EXPECT_NE(std::to_integer<int>(one[12]), 0);
}

}  // namespace
}  // namespace sluice::entropy
