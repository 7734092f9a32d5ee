// Planes of every shape and content, and every kind of damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "base/sha256.h"
#include "base/units.h"
#include "codec/entropy/binding.h"
#include "codec/entropy/shipped_tables.h"

namespace sluice::entropy {
namespace {

using Symbols = std::vector<std::int16_t>;

Symbols normal_symbols(std::int64_t rows, std::int64_t columns, double sigma, std::uint64_t seed) {
  RandomStream random(seed, "plane", 0);
  Symbols symbols;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const double centre = static_cast<double>(i % columns % 9) - 4;
    symbols.push_back(static_cast<std::int16_t>(std::lround(random.normal(centre, sigma))));
  }
  return symbols;
}

void expect_round_trip(const Symbols& symbols, std::int64_t rows, std::int64_t columns,
                       const PlaneOptions& options = {}) {
  const EncodedPlane plane = encode_plane({rows, columns, symbols}, options);
  EXPECT_EQ(plane.stats.coded_bytes, static_cast<std::int64_t>(plane.bytes.size()));
  EXPECT_GE(plane.stats.coded_bytes * kMaxElementsPerByte, rows * columns);
  // A plane is followed by other bytes in a section: it must know where it ends.
  std::vector<std::byte> bytes = plane.bytes;
  bytes.resize(bytes.size() + 100, std::byte{0xA5});
  Symbols decoded(symbols.size());
  for (const Backend backend : available_backends()) {
    PlaneOptions with = options;
    with.backend = backend;
    EXPECT_EQ(encode_plane({rows, columns, symbols}, with).bytes, plane.bytes);
    std::fill(decoded.begin(), decoded.end(), std::int16_t{99});
    const auto taken = decode_plane(bytes, rows, columns, with, decoded);
    ASSERT_TRUE(taken.ok()) << taken.error().to_line();
    EXPECT_EQ(*taken, plane.bytes.size());
    EXPECT_EQ(decoded, symbols);
  }
}

TEST(EntropyPlane, EveryShapeComesBack) {
  for (const std::int64_t rows : {0, 1, 2, 31, 257, 700}) {
    for (const std::int64_t columns : {0, 1, 3, 31, 32, 33, 64, 192, 200, 576}) {
      const Symbols symbols = normal_symbols(rows, columns, 2.0, 1);
      expect_round_trip(symbols, rows, columns, {.column_unit = 64});
      Symbols narrow = symbols;
      for (auto& symbol : narrow) symbol = std::clamp<std::int16_t>(symbol, -16, 15);
      expect_round_trip(narrow, rows, columns, {.model = PlaneModel::kShipped});
    }
  }
}

TEST(EntropyPlane, AnySymbolsComeBack) {
  RandomStream random(2, "plane", 0);
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

TEST(EntropyPlane, AnOutlierCostsFourBytesAndNotAWiderTable) {
  const Symbols clean = normal_symbols(256, 192, 1.0, 9);
  Symbols spoilt = clean;
  spoilt[1000] = 500;
  const auto bits = [](const Symbols& symbols) {
    return DataSize::bytes(encode_plane({256, 192, symbols}, {}).stats.coded_bytes).bits();
  };
  // Place and symbol are 32 bits; the symbol in its place is not coded any more. A word is 16.
  EXPECT_NEAR(static_cast<double>(bits(spoilt) - bits(clean)), 32, 16);
}

TEST(EntropyPlane, ConstantColumnsCostNothingButTheFloorOfOneBytePer256) {
  const EncodedPlane plane = encode_plane({2560, 192, Symbols(2560 * 192, -7)}, {});
  EXPECT_EQ(plane.stats.coded_bytes, 2560 * 192 / 256);
  EXPECT_EQ(plane.stats.symbol_bytes, 0);
}

TEST(EntropyPlane, NormalSymbolsComeWithinThreePercentOfTheirEntropy) {
  // 256 rows of sigma 2: H = 0.5 log2(2 pi e 4) = 3.047 bits.
  const Symbols symbols = normal_symbols(256, 192, 2.0, 3);
  const EncodedPlane plane = encode_plane({256, 192, symbols}, {});
  const double bits = static_cast<double>(DataSize::bytes(plane.stats.coded_bytes).bits()) /
                      static_cast<double>(plane.stats.elements);
  EXPECT_GT(bits, 3.047);
  EXPECT_LT(bits, 3.047 * 1.03);
}

TEST(EntropyPlane, OrderZeroEntropyOfFourEquallyFrequentSymbolsIsTwoBits) {
  Symbols symbols;
  for (std::int16_t i = 0; i < 400; ++i) symbols.push_back(static_cast<std::int16_t>(i % 4));
  EXPECT_DOUBLE_EQ(order0_bits({400, 1, symbols}), 800.0);
  EXPECT_DOUBLE_EQ(order0_bits({100, 4, symbols}), 0.0);  // a column each
}

TEST(EntropyPlane, TheSameMatrixGivesTheSameBytesInEveryRunAndVersion) {
  const Symbols symbols = normal_symbols(300, 70, 1.3, 4);
  const auto first = encode_plane({300, 70, symbols}, {}).bytes;
  EXPECT_EQ(encode_plane({300, 70, symbols}, {}).bytes, first);
  const auto text = [](const std::vector<std::byte>& bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  // Pins the bitstream: when it changes on purpose, take the next model number instead.
  const Symbols small = {0, 1, -1, 2, 0, 0, 1, -1, 0, 0};
  EXPECT_EQ(sha256_hex(text(encode_plane({5, 2, small}, {}).bytes)),
            "dadc802fb9dcaa1bf3369834fafed0203e07238eda3a9e1cc733b093ab85e8c4");
  EXPECT_EQ(sha256_hex(text(first)),
            "bfa2b14a9b71e440e2ee3aa0be3e9368fc041f1d28d3ae08d9bea8c8c728cf4b");
}

Status decode_status(std::span<const std::byte> bytes, std::int64_t rows, std::int64_t columns) {
  Symbols symbols(static_cast<std::size_t>(rows * columns));
  const auto taken = decode_plane(bytes, rows, columns, {}, symbols);
  if (!taken) return taken.error();
  return {};
}

TEST(EntropyPlane, EveryTruncationIsAnError) {
  for (const PlaneModel model : {PlaneModel::kClassFamily, PlaneModel::kShipped}) {
    const Symbols symbols = normal_symbols(90, 40, 1.5, 5);
    const auto bytes = encode_plane({90, 40, symbols}, {.model = model}).bytes;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::vector<std::byte> cut(bytes.begin(),
                                       bytes.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(decode_status(cut, 90, 40).ok()) << size << " of " << bytes.size();
    }
    EXPECT_TRUE(decode_status(bytes, 90, 40).ok());
  }
}

TEST(EntropyPlane, FlippedBitsNeverCrashAndNearlyAllAreNoticed) {
  for (const PlaneModel model : {PlaneModel::kClassFamily, PlaneModel::kShipped}) {
    const Symbols symbols = normal_symbols(60, 34, 1.5, 6);
    auto bytes = encode_plane({60, 34, symbols}, {.model = model}).bytes;
    std::int64_t flips = 0, noticed = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        bytes[i] ^= std::byte{1} << bit;
        noticed += decode_status(bytes, 60, 34).ok() ? 0 : 1;
        ++flips;
        bytes[i] ^= std::byte{1} << bit;
      }
    }
    // Lanes must end where they began; what slips through is for the container's checksum.
    EXPECT_GT(static_cast<double>(noticed) / static_cast<double>(flips), 0.5);
  }
}

TEST(EntropyPlane, RandomBytesNeverCrash) {
  RandomStream random(7, "plane", 0);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes(random.below(400));
    for (auto& byte : bytes) byte = static_cast<std::byte>(random.below(256));
    const std::int64_t rows = 1 + static_cast<std::int64_t>(random.below(20));
    const std::int64_t columns = 1 + static_cast<std::int64_t>(random.below(20));
    if (bytes.size() >= 8 && i % 4 != 0) {  // a header that gets past the first checks
      bytes[0] = static_cast<std::byte>(i % 2);
      bytes[1] = std::byte{0};
      bytes[2] = static_cast<std::byte>(columns);
      bytes[3] = std::byte{0};
      bytes[4] = static_cast<std::byte>(rows);
      bytes[5] = bytes[6] = bytes[7] = std::byte{0};
    }
    (void)decode_status(bytes, rows, columns);
  }
}

TEST(EntropyPlane, AHeaderThatLiesIsNamed) {
  const Symbols symbols = normal_symbols(60, 34, 1.5, 8);
  const auto good = encode_plane({60, 34, symbols}, {}).bytes;
  const auto what = [&](std::size_t at, int value) {
    auto bytes = good;
    bytes[at] = static_cast<std::byte>(value);
    const Status status = decode_status(bytes, 60, 34);
    return status.ok() ? std::string("no error") : status.error().what;
  };
  EXPECT_THAT(what(0, 2), ::testing::HasSubstr("model profile"));
  EXPECT_THAT(what(0, 3), ::testing::HasSubstr("a plane of digits"));
  EXPECT_THAT(what(0, 5), ::testing::HasSubstr("probability model"));
  EXPECT_THAT(what(1, 1), ::testing::HasSubstr("probability model"));
  EXPECT_THAT(what(2, 0), ::testing::HasSubstr("tile size"));
  EXPECT_THAT(what(2, 35), ::testing::HasSubstr("tile size"));
  EXPECT_THAT(what(7, 0x80), ::testing::HasSubstr("tile size"));
  EXPECT_THAT(what(11, 0xFF), ::testing::HasSubstr("ends in a tile"));
}

TEST(EntropyPlane, PaddingThatIsNotZeroIsAnError) {
  auto bytes = encode_plane({2560, 192, Symbols(2560 * 192, 0)}, {}).bytes;
  bytes.back() = std::byte{1};
  EXPECT_FALSE(decode_status(bytes, 2560, 192).ok());
}

TEST(EntropyPlane, AShippedDistributionHas33EntriesFrom0To65536) {
  // 3 of 4 symbols are 0, 1 of 4 is 5: every symbol keeps 1, the other 65504 are shared.
  const Symbols symbols = {0, 0, 5, 0};
  const ShippedDistribution distribution = measure_distribution(symbols.data(), 1, 4);
  EXPECT_EQ(distribution[16], 16);
  EXPECT_EQ(distribution[17], 17 + 49'128);
  EXPECT_EQ(distribution[22], 22 + 65'504);
  EXPECT_EQ(distribution[32], 0);
  const auto table = to_table(distribution);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->counts[16], 1536);
  EXPECT_EQ(table->counts[21], 512);
  EXPECT_FALSE(table->has(1));
  ShippedDistribution falling = distribution;
  falling[10] = 60'000;
  EXPECT_FALSE(to_table(falling).has_value());
}

}  // namespace
}  // namespace sluice::entropy
