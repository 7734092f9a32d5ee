// Planes of the peaked family (model 4): every shape, shift and damage, outliers, and what they
// cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "base/units.h"
#include "codec/entropy/binding.h"
#include "codec/entropy/excess.h"
#include "codec/entropy/peaked_family.h"

namespace sluice::entropy {
namespace {

using Symbols = std::vector<std::int16_t>;

// Column c has a standard deviation of sigma * 2^(c % 5 / 4), row r of 2^(shift / 4) times that.
Symbols laplace_symbols(std::int64_t rows, std::int64_t columns, double sigma,
                        std::span<const std::int8_t> shifts = {}) {
  RandomStream random(31, "peaked", static_cast<std::uint64_t>(rows * 1000 + columns));
  Symbols symbols;
  for (std::int64_t row = 0; row < rows; ++row) {
    const int shift = shifts.empty() ? 0 : shifts[static_cast<std::size_t>(row)];
    for (std::int64_t column = 0; column < columns; ++column) {
      const double width = sigma * std::exp2((static_cast<double>(column % 5) + shift) / 4);
      const double size = -std::log(1 - random.uniform()) / std::sqrt(2.0);  // variance 1
      const double value = std::clamp(std::round(width * size), 0.0, 32767.0);
      symbols.push_back(static_cast<std::int16_t>(random.bernoulli(0.5) ? value : -value));
    }
  }
  return symbols;
}

const PlaneOptions kPeakedOptions{.model = PlaneModel::kPeaked};

void expect_round_trip(const Symbols& symbols, std::int64_t rows, std::int64_t columns,
                       std::span<const std::int8_t> shifts = {}) {
  PlaneOptions options{.model = PlaneModel::kPeaked, .row_shifts = shifts};
  options.backend = Backend::kScalar;
  const EncodedPlane plane = encode_plane({rows, columns, symbols}, options);
  EXPECT_EQ(plane.stats.coded_bytes, static_cast<std::int64_t>(plane.bytes.size()));
  std::vector<std::byte> bytes = plane.bytes;
  bytes.resize(bytes.size() + 100, std::byte{0xA5});  // what follows in a section
  for (const Backend backend : available_backends()) {
    SCOPED_TRACE(to_text(backend));
    options.backend = backend;
    EXPECT_EQ(encode_plane({rows, columns, symbols}, options).bytes, plane.bytes);
    Symbols decoded(symbols.size(), 99);
    const auto taken = decode_plane(bytes, rows, columns, options, decoded);
    ASSERT_TRUE(taken.ok()) << taken.error().to_line();
    EXPECT_EQ(*taken, plane.bytes.size());
    EXPECT_EQ(decoded, symbols);
  }
}

std::int64_t bits_of(const EncodedPlane& plane) {
  return DataSize::bytes(plane.stats.coded_bytes).bits();
}

TEST(EntropyPeaked, EveryShapeComesBack) {
  for (const std::int64_t rows : {0, 1, 2, 31, 257, 2050}) {
    for (const std::int64_t columns : {0, 1, 31, 32, 33, 200}) {
      expect_round_trip(laplace_symbols(rows, columns, 0.5), rows, columns);
    }
  }
  expect_round_trip(laplace_symbols(2048, 544, 0.4), 2048, 544);  // two tiles side by side
}

TEST(EntropyPeaked, EveryScaleComesBack) {
  for (double sigma = 0.02; sigma < 5000; sigma *= 1.7) {
    expect_round_trip(laplace_symbols(77, 40, sigma), 77, 40);
  }
}

TEST(EntropyPeaked, EveryShiftComesBack) {
  std::vector<std::int8_t> shifts;
  for (int shift = -128; shift <= 127; ++shift) shifts.push_back(static_cast<std::int8_t>(shift));
  expect_round_trip(laplace_symbols(256, 37, 2.0, shifts), 256, 37, shifts);
  for (const std::int8_t shift : shifts) {
    const std::vector<std::int8_t> one(9, shift);
    expect_round_trip(laplace_symbols(9, 3, 1.0), 9, 3, one);
  }
}

TEST(EntropyPeaked, AnySymbolsComeBack) {
  RandomStream random(32, "peaked", 0);
  Symbols anything(300 * 40), two_ends(300 * 40), one_outlier(300 * 40, 3), steps(300 * 40);
  for (std::size_t i = 0; i < anything.size(); ++i) {
    anything[i] = static_cast<std::int16_t>(random.below(65536) - 32768);
    two_ends[i] = random.bernoulli(0.5) ? std::int16_t{32767} : std::int16_t{-32768};
    steps[i] = static_cast<std::int16_t>(static_cast<std::int64_t>(i % 40) * 1600 - 32000);
  }
  one_outlier[777] = -32768;
  for (const Symbols& symbols : {anything, two_ends, one_outlier, steps}) {
    expect_round_trip(symbols, 300, 40);
  }
}

TEST(EntropyPeaked, MeansBetweenStepsHaveTablesOfTheirOwn) {
  // Means of 0, 1/4, 1/2 and 3/4 around 100 and -100: the same bits within 2 %.
  const auto bits_at = [](double mean) {
    RandomStream random(33, "peaked", 0);
    Symbols symbols;
    for (int i = 0; i < 1024 * 32; ++i) {
      symbols.push_back(static_cast<std::int16_t>(std::lround(random.normal(mean, 1))));
    }
    expect_round_trip(symbols, 1024, 32);
    return static_cast<double>(bits_of(encode_plane({1024, 32, symbols}, kPeakedOptions)));
  };
  const double whole = bits_at(100);
  for (const double mean : {100.25, 100.5, 100.75, -99.75, -100.5, -100.25}) {
    EXPECT_NEAR(bits_at(mean) / whole, 1, 0.02) << mean;
  }
}

TEST(EntropyPeaked, AnOutlierCostsLessThanThreeBytes) {
  const Symbols clean = laplace_symbols(1024, 32, 0.5);
  Symbols spoilt = clean;
  for (std::size_t row = 0; row < 1024; row += 64) spoilt[row * 32 + row / 64] = 60;
  const auto bits = [](const Symbols& symbols) {
    return bits_of(encode_plane({1024, 32, symbols}, kPeakedOptions));
  };
  // An escape of a slot is 11 bits, 50-odd steps beyond it two digits of four; less where one
  // column of a wider or more peaked table takes it. 16 columns have one each.
  EXPECT_LT(static_cast<double>(bits(spoilt) - bits(clean)) / 16, 24);
}

TEST(EntropyPeaked, LaplaceSymbolsCostAtMostOneAndAFifthPercentMoreThanTheirEntropyAtEveryScale) {
  // Of a Laplace source rounded to integers: the centre has 1 - r of the mass, r = exp(-a / 2), and
  // each side falls by exp(-a) per step, a = sqrt(2) / sigma.
  for (const double sigma : {0.3, 0.6, 1.2, 5.0}) {
    const std::int64_t rows = 1536, columns = 320;
    const Symbols symbols = laplace_symbols(rows, columns, sigma);
    double ideal = 0;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      const double a = std::sqrt(2.0) / (sigma * std::exp2(static_cast<double>(i % 5) / 4));
      const double size = std::abs(symbols[i]);
      ideal -= size == 0 ? std::log2(1 - std::exp(-a / 2))
                         : std::log2(std::sinh(a / 2)) - a * size / std::log(2.0);
    }
    const auto bits =
        static_cast<double>(bits_of(encode_plane({rows, columns, symbols}, kPeakedOptions)));
    EXPECT_GT(bits, 0.99 * ideal) << sigma;
    EXPECT_LT(bits, 1.012 * ideal) << sigma;
  }
}

TEST(EntropyPeaked, NarrowColumnsCostLessThanInTheClassFamily) {
  const Symbols symbols = laplace_symbols(1536, 192, 0.25);
  EXPECT_LT(static_cast<double>(bits_of(encode_plane({1536, 192, symbols}, kPeakedOptions))),
            0.97 * static_cast<double>(
                       bits_of(encode_plane({1536, 192, symbols}, {.prefers_tall_tiles = true}))));
}

TEST(EntropyPeaked, ConstantColumnsCostNothingInAnyRow) {
  std::vector<std::int8_t> shifts;
  for (int row = 0; row < 512; ++row) shifts.push_back(static_cast<std::int8_t>(row % 7 - 3));
  Symbols symbols;
  for (int i = 0; i < 512 * 64; ++i) symbols.push_back(static_cast<std::int16_t>(i % 64 / 8));
  const auto stats =
      encode_plane({512, 64, symbols}, {.model = PlaneModel::kPeaked, .row_shifts = shifts}).stats;
  EXPECT_EQ(stats.symbol_bytes, 0);
  expect_round_trip(symbols, 512, 64, shifts);
}

TEST(EntropyPeaked, ATileOfZerosIsEmpty) {
  const auto bytes = encode_plane({100, 8, Symbols(800)}, kPeakedOptions).bytes;
  EXPECT_EQ(bytes.size(), 8U + 4U);
  expect_round_trip(Symbols(800), 100, 8);
}

TEST(EntropyPeaked, ExcessIsWrittenInDigitsOfThreeBits) {
  // 5 is one digit. 75 = 1 * 64 + 1 * 8 + 3 is 3 + more, 1 + more, 1: 5, B, 9, 1 from the low half
  // on.
  ExcessWriter writer;
  for (const std::int32_t excess : {5, 75, 32767}) writer.put(excess);
  const std::vector<std::byte> bytes(writer.bytes().begin(), writer.bytes().end());
  ASSERT_EQ(bytes.size(), 5U);
  EXPECT_EQ(bytes[0], std::byte{0xB5});
  EXPECT_EQ(bytes[1], std::byte{0x19});
  ExcessReader reader(bytes.data(), bytes.size());
  for (const std::int32_t excess : {5, 75, 32767}) {
    std::int32_t read = 0;
    ASSERT_TRUE(reader.get(read));
    EXPECT_EQ(read, excess);
  }
  EXPECT_TRUE(reader.is_at_end());
  std::int32_t read = 0;
  ExcessReader without_end(bytes.data() + 1, 1);  // 9, 1, then nothing
  ASSERT_TRUE(without_end.get(read));
  EXPECT_FALSE(without_end.get(read));
}

// The example of spec.md, section 10.
TEST(EntropyPeaked, TheExampleOfTheSpecification) {
  const std::vector<int> numbers = {0x04, 0, 1, 0, 2, 0, 0, 0, 0x0F, 0,    0,    0,    0,   0x14,
                                    0,    0, 0, 1, 0, 0, 0, 0, 0x05, 0x9F, 0x18, 0xF2, 0x80};
  std::vector<std::byte> bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  for (const Backend backend : available_backends()) {
    Symbols symbols(2);
    const auto taken = decode_plane(bytes, 2, 1, {.backend = backend}, symbols);
    ASSERT_TRUE(taken.ok()) << taken.error().to_line();
    EXPECT_EQ(*taken, bytes.size());
    EXPECT_THAT(symbols, ::testing::ElementsAre(0, 9));
  }
}

TEST(EntropyPeaked, TheTablesAreThoseOfTheirDensities) {
  const PeakedFamily& family = peaked_family();
  EXPECT_EQ(family.tables.frequencies(family.table(0, 5)).counts.size(), 1U);  // constant
  // Laplace, sigma 0.03 * 2^(20/4) = 0.96: 1 - exp(-sqrt(2) / 0.96 / 2) = 0.5212 of 2048 slots.
  EXPECT_EQ(
      family.tables.frequencies(family.table(20, 8))
          .counts[static_cast<std::size_t>(-family.tables.frequencies(family.table(20, 8)).first)],
      1067);
  for (std::int32_t scale = 1; scale < kNumPeakedScales; ++scale) {
    for (std::int32_t kind = 0; kind < kNumPeakedKinds; ++kind) {
      const Frequencies& table = family.tables.frequencies(family.table(scale, kind));
      for (const std::uint16_t count : table.counts) ASSERT_GE(count, 1);
    }
  }
}

Status decode_status(std::span<const std::byte> bytes, std::int64_t rows, std::int64_t columns) {
  Symbols symbols(static_cast<std::size_t>(rows * columns));
  const auto taken = decode_plane(bytes, rows, columns, {}, symbols);
  if (!taken) return taken.error();
  return {};
}

TEST(EntropyPeaked, EveryTruncationIsAnError) {
  Symbols symbols = laplace_symbols(90, 40, 0.7);
  symbols[100] = 1000;
  const auto bytes = encode_plane({90, 40, symbols}, kPeakedOptions).bytes;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(),
                                     bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(decode_status(cut, 90, 40).ok()) << size << " of " << bytes.size();
  }
  EXPECT_TRUE(decode_status(bytes, 90, 40).ok());
}

TEST(EntropyPeaked, FlippedBitsNeverCrashAndNearlyAllAreNoticed) {
  Symbols symbols = laplace_symbols(60, 34, 1.5);
  symbols[100] = 1000;
  auto bytes = encode_plane({60, 34, symbols}, kPeakedOptions).bytes;
  std::int64_t flips = 0, noticed = 0;
  for (std::byte& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= std::byte{1} << bit;
      noticed += decode_status(bytes, 60, 34).ok() ? 0 : 1;
      ++flips;
      byte ^= std::byte{1} << bit;
    }
  }
  EXPECT_GT(static_cast<double>(noticed) / static_cast<double>(flips), 0.5);
}

TEST(EntropyPeaked, RandomBytesNeverCrashAndMeanTheSameToEveryBackend) {
  RandomStream random(34, "peaked", 0);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes(random.below(500));
    for (auto& byte : bytes) byte = static_cast<std::byte>(random.below(256));
    const auto rows = 1 + static_cast<std::int64_t>(random.below(20));
    const auto columns = 1 + static_cast<std::int64_t>(random.below(40));
    if (bytes.size() >= 24 && i % 4 != 0) {  // headers that get past the first checks
      const std::size_t size = bytes.size() - 12;
      const std::vector<std::size_t> header = {4,
                                               0,
                                               static_cast<std::size_t>(columns),
                                               0,
                                               static_cast<std::size_t>(rows),
                                               0,
                                               0,
                                               0,
                                               size & 255,
                                               size >> 8,
                                               0,
                                               0,
                                               random.below(20),
                                               random.below(46),
                                               random.below(20),
                                               random.below(256),
                                               0,
                                               random.below(9),
                                               0,
                                               0,
                                               0,
                                               random.below(4)};
      for (std::size_t at = 0; at < header.size(); ++at) bytes[at] = std::byte(header[at]);
    }
    std::vector<std::string> outcomes;
    std::vector<Symbols> symbols;
    for (const Backend backend : available_backends()) {
      Symbols decoded(static_cast<std::size_t>(rows * columns), 1);
      const auto taken = decode_plane(bytes, rows, columns, {.backend = backend}, decoded);
      outcomes.push_back(taken ? std::to_string(*taken) : taken.error().what);
      symbols.push_back(taken ? decoded : Symbols{});
    }
    EXPECT_EQ(outcomes.front(), outcomes.back());
    EXPECT_EQ(symbols.front(), symbols.back());
  }
}

}  // namespace
}  // namespace sluice::entropy
