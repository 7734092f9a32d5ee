#include "traces/readers/numbers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace sluice {
namespace {

std::int64_t value(std::string_view text, std::int64_t factor) {
  const ScaledNumber number = scale_decimal(text, factor);
  EXPECT_EQ(number.fault, NumberFault::kNone) << text;
  return number.value;
}
NumberFault fault(std::string_view text) {
  return scale_decimal(text, 1'000'000).fault;
}

TEST(ScaleDecimal, PointsAndExponentsAreExact) {
  EXPECT_EQ(value("0.1", 1'000'000), 100'000);
  EXPECT_EQ(value("25", 1), 25);
  EXPECT_EQ(value(".5", 1'000'000), 500'000);
  EXPECT_EQ(value("5.", 1'000'000), 5'000'000);
  EXPECT_EQ(value("1.5e3", 1), 1500);
  EXPECT_EQ(value("15E-1", 1'000), 1500);
  EXPECT_EQ(value("9223372036854775807", 1), 9'223'372'036'854'775'807);
}

TEST(ScaleDecimal, HalvesRoundUp) {
  EXPECT_EQ(value("0.5", 1), 1);
  EXPECT_EQ(value("0.49999999999999999999", 1), 0);
  EXPECT_EQ(value("1.5", 1), 2);
  EXPECT_EQ(value("119.440000057", 1'000'000'000), 119'440'000'057);
}

TEST(ScaleDecimal, DigitsBeyondSightDoNotMatter) {
  EXPECT_EQ(value("0.3000000000000000000000000000000000000000000001", 10), 3);
  EXPECT_EQ(value("1" + std::string(300, '0') + "e-300", 1), 1);
  EXPECT_EQ(value("0." + std::string(300, '0') + "1e301", 1), 1);
  EXPECT_EQ(value("1e-999999999999", 1'000'000), 0);
  EXPECT_EQ(value("0e999999999999", 1'000'000), 0);
  EXPECT_EQ(value("-0.0", 1), 0);
}

// An exponent takes the long way: both ways must agree on numbers of every length.
TEST(ScaleDecimal, ShortNumbersAreReadAsLongOnes) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    RandomStream random(seed);
    std::string text;
    for (std::uint64_t i = 0, n = 1 + random.below(21); i < n; ++i)
      text += "0123456789"[random.below(10)];
    if (random.bernoulli(0.7)) text.insert(random.below(text.size() + 1), ".");
    const std::int64_t factor =
        std::vector<std::int64_t>{1, 8, 1'000, 1'000'000, 8'000'000'000}[random.below(5)];
    const ScaledNumber shorter = scale_decimal(text, factor);
    const ScaledNumber longer = scale_decimal(text + "e0", factor);
    ASSERT_EQ(shorter.value, longer.value) << text << " x " << factor;
    ASSERT_EQ(shorter.fault, longer.fault) << text << " x " << factor;
  }
}

TEST(ScaleDecimal, FaultsAreToldApart) {
  for (const char* text : {"", ".", "-", "e5", "1e", "1e+", "1e5x", "nan", "inf", "0x10", "1,5",
                           "1 ", " 1", "+1", "--1", "1.2.3"}) {
    EXPECT_EQ(fault(text), NumberFault::kNotANumber) << text;
  }
  EXPECT_EQ(fault("-0.001"), NumberFault::kNegative);
  EXPECT_EQ(fault("9223372036855"), NumberFault::kTooLarge);
  EXPECT_EQ(fault("1e999999999999"), NumberFault::kTooLarge);
  EXPECT_EQ(fault(std::string(5000, '9')), NumberFault::kTooLarge);
}

TEST(ReadWhole, TakesDigitsOnly) {
  EXPECT_EQ(read_whole("042").value, 42);
  EXPECT_EQ(read_whole("999999999999999").value, 999'999'999'999'999);
  EXPECT_EQ(read_whole("1000000000000000").fault, NumberFault::kTooLarge);
  EXPECT_EQ(read_whole("-1").fault, NumberFault::kNegative);
  for (const char* text : {"", "-", "1.0", "1e3", " 1"})
    EXPECT_EQ(read_whole(text).fault, NumberFault::kNotANumber) << text;
}

TEST(Units, CaseTellsBitsFromBytes) {
  EXPECT_EQ(find_rate_unit("Mbit/s")->factor, 1'000'000);
  EXPECT_EQ(find_rate_unit("MB/s")->factor, 8'000'000);
  EXPECT_EQ(find_rate_unit("mbit/s"), nullptr);
  EXPECT_EQ(find_rate_unit("MBps"), nullptr);
  EXPECT_EQ(find_time_unit("ms")->factor, 1'000'000);
  EXPECT_EQ(find_time_unit("MS"), nullptr);
}

}  // namespace
}  // namespace sluice
