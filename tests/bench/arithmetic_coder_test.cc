// The peer coder is a fair one only if it works: round trips, size, and any bytes at all.
#include "tests/bench/arithmetic_coder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace sluice::bench {
namespace {

// Column c holds symbols near its own centre.
std::vector<std::uint8_t> made_symbols(std::int64_t rows, std::int64_t columns, int num_symbols) {
  RandomStream random(11);
  std::vector<std::uint8_t> symbols;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const double centre = static_cast<double>(i % columns % num_symbols);
    const double drawn = std::clamp(std::round(random.normal(centre, 1.2)), 0.0, num_symbols - 1.0);
    symbols.push_back(static_cast<std::uint8_t>(drawn));
  }
  return symbols;
}

std::vector<std::uint8_t> there_and_back(const std::vector<std::uint8_t>& symbols,
                                         std::int64_t columns, int num_symbols) {
  const auto frequencies = count_frequencies(symbols, columns, num_symbols);
  std::vector<std::uint8_t> back(symbols.size(), 0xFF);
  arithmetic_decode(arithmetic_encode(symbols, frequencies), frequencies, back);
  return back;
}

TEST(ArithmeticCoder, GivesBackEverySymbolOfEveryAlphabet) {
  for (const int num_symbols : {1, 2, 15, 31, 256}) {
    for (const std::int64_t columns : {1, 3, 64}) {
      const auto symbols = made_symbols(500, columns, num_symbols);
      EXPECT_EQ(there_and_back(symbols, columns, num_symbols), symbols)
          << num_symbols << " symbols, " << columns << " columns";
    }
  }
  EXPECT_TRUE(there_and_back({}, 4, 31).empty());
}

TEST(ArithmeticCoder, GivesBackSymbolsThatTheFrequenciesAllButExclude) {
  const std::vector<std::uint8_t> common(10'000, 3);
  const auto frequencies = count_frequencies(common, 1, 31);
  const auto rare = made_symbols(3'000, 1, 31);  // each of 16 bits but for symbol 3
  std::vector<std::uint8_t> back(rare.size());
  arithmetic_decode(arithmetic_encode(rare, frequencies), frequencies, back);
  EXPECT_EQ(back, rare);
}

TEST(ArithmeticCoder, FourEqualSymbolsCostTwoBitsEach) {
  std::vector<std::uint8_t> symbols;
  for (int i = 0; i < 40'000; ++i) symbols.push_back(static_cast<std::uint8_t>(i % 4));
  const auto bytes = arithmetic_encode(symbols, count_frequencies(symbols, 1, 4));
  EXPECT_NEAR(static_cast<double>(bytes.size()), 10'000, 20);
}

TEST(ArithmeticCoder, SurvivesBytesThatItNeverWrote) {
  RandomStream random(3);
  const auto symbols = made_symbols(100, 8, 31);
  const auto frequencies = count_frequencies(symbols, 8, 31);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> bytes(random.below(600));
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(256));
    std::vector<std::uint8_t> back(symbols.size());
    arithmetic_decode(bytes, frequencies, back);
    for (const std::uint8_t symbol : back) ASSERT_LT(symbol, 31);
  }
}

}  // namespace
}  // namespace sluice::bench
