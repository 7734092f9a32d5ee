#include "base/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(Parse, QuantitiesCarryTheirUnit) {
  EXPECT_EQ(parse_rate("25Mbit/s", "x")->bits_per_sec(), 25'000'000);
  EXPECT_EQ(parse_size("64MiB", "x")->bytes(), 67'108'864);
  EXPECT_EQ(parse_size("64 MB", "x")->bytes(), 64'000'000);
  EXPECT_EQ(*parse_duration("1.5s", "x"), 1500ms);
}

TEST(Parse, DecimalsAreExact) {
  EXPECT_EQ(parse_rate("0.1Gbit/s", "x")->bits_per_sec(), 100'000'000);
  EXPECT_EQ(*parse_duration("0.000000001s", "x"), 1ns);
}

TEST(Parse, TheFaultAndTheFixAreNamed) {
  const auto bare = parse_rate("25", "links[0].capacity");
  ASSERT_FALSE(bare.ok());
  EXPECT_THAT(bare.error().to_line(), HasSubstr("links[0].capacity: `25` has no unit"));
  EXPECT_THAT(bare.error().to_line(), HasSubstr("25Mbit/s"));
  EXPECT_THAT(parse_rate("25mbit/s", "x").error().to_line(), HasSubstr("unknown unit `mbit/s`"));
  EXPECT_THAT(parse_duration("0.1ns", "x").error().to_line(), HasSubstr("finer than"));
  EXPECT_THAT(parse_size("99999999999TB", "x").error().to_line(), HasSubstr("too large"));
  EXPECT_FALSE(parse_size("", "x").ok());
  EXPECT_FALSE(parse_size("-1MB", "x").ok());
  EXPECT_FALSE(parse_size("1e3MB", "x").ok());
}

TEST(Parse, NumbersMustBeWholeOrFinite) {
  EXPECT_EQ(*parse_integer("42", "x"), 42);
  EXPECT_FALSE(parse_integer("42x", "x").ok());
  EXPECT_FALSE(parse_integer("", "x").ok());
  EXPECT_DOUBLE_EQ(*parse_number("0.25", "x"), 0.25);
  EXPECT_FALSE(parse_number("nan", "x").ok());
  EXPECT_FALSE(parse_number("inf", "x").ok());
}

}  // namespace
}  // namespace sluice
