#include "base/units.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(Units, A125ByteMessageOnA1KbitLinkTakesOneSecond) {
  static_assert(DataSize::bytes(125) / DataRate::bits_per_sec(1000) == 1s);
  EXPECT_EQ(DataSize::bytes(125) / DataRate::bits_per_sec(1000), 1s);
}

TEST(Units, SizeOverRateRoundsUpToAWholeNanosecond) {
  // 1 byte at 3 Gbit/s is 2.67 ns.
  EXPECT_EQ(DataSize::bytes(1) / DataRate::bits_per_sec(3'000'000'000), 3ns);
}

TEST(Units, SizesPast512MiBDoNotWrap) {
  // ns-3's own CalculateBytesTxTime multiplies by 8 in 32 bits and would wrap here.
  EXPECT_EQ(DataSize::bytes(1'000'000'000) / DataRate::bits_per_sec(8'000'000'000), 1s);
  EXPECT_EQ(DataSize::bytes(20'000'000'000) / DataRate::bits_per_sec(1'000'000'000), 160s);
}

TEST(Units, SizeOverRateRefusesWhatHasNoAnswer) {
  EXPECT_THROW((void)(DataSize::bytes(1) / DataRate::zero()), std::domain_error);
  EXPECT_THROW((void)(DataSize::bytes(-1) / DataRate::bits_per_sec(1)), std::domain_error);
  EXPECT_THROW((void)(DataSize::max() / DataRate::bits_per_sec(1)), std::overflow_error);
}

TEST(Units, RateTimesTimeRoundsDown) {
  EXPECT_EQ((DataRate::bits_per_sec(8) * 1s).bytes(), 1);
  EXPECT_EQ((DataRate::bits_per_sec(15) * 1s).bytes(), 1);
}

TEST(Units, MeanRateOf1MegabyteIn8MillisecondsIs1Gbit) {
  EXPECT_EQ(mean_rate(DataSize::bytes(1'000'000), 8ms).bits_per_sec(), 1'000'000'000);
}

TEST(Units, BitsAreHeldByWholeBytesRoundedUp) {
  EXPECT_EQ(bits_to_size(0).bytes(), 0);
  EXPECT_EQ(bits_to_size(8).bytes(), 1);
  EXPECT_EQ(bits_to_size(8.5).bytes(), 2);
  EXPECT_THROW((void)bits_to_size(-1), std::domain_error);
  EXPECT_THROW((void)bits_to_size(1e30), std::overflow_error);
}

TEST(Units, DoublesBecomeWholeNanosecondsOrThrow) {
  EXPECT_EQ(nanoseconds_to_duration(1.6), 2ns);
  EXPECT_EQ(seconds_to_duration(0.25), 250ms);
  EXPECT_THROW((void)nanoseconds_to_duration(1e19), std::overflow_error);
  EXPECT_THROW((void)seconds_to_duration(0.0 / 0.0), std::overflow_error);
}

TEST(Units, ASumOfTransfersRoundsOnce) {
  TransferSum sum;
  sum.add(DataRate::bits_per_sec(4), 1s);
  EXPECT_EQ(sum.bytes().bytes(), 0);  // half a byte
  EXPECT_FALSE(sum.reaches(DataSize::bytes(1)));
  sum.add(DataRate::bits_per_sec(12), 1s);
  EXPECT_EQ(sum.bytes().bytes(), 2);
  EXPECT_TRUE(sum.reaches(DataSize::bytes(2)));
  EXPECT_EQ(sum.mean_over(2s).bits_per_sec(), 8);
  TransferSum laps;
  laps.add(sum, 1'000'000'000);
  EXPECT_EQ(laps.bytes().bytes(), 2'000'000'000);
}

TEST(Units, ASumOfTransfersPast2To63BytesThrows) {
  TransferSum sum;
  sum.add(DataRate::bits_per_sec(std::numeric_limits<std::int64_t>::max()), 100s);
  EXPECT_THROW((void)sum.bytes(), std::overflow_error);
  EXPECT_THROW((void)sum.mean_over(1s), std::overflow_error);
  EXPECT_THROW((void)sum.mean_over(0s), std::domain_error);
}

TEST(Units, TextNamesTheUnitWithFourSignificantDigits) {
  EXPECT_EQ(to_text(DataSize::bytes(1'245'000'000)), "1.245 GB");
  EXPECT_EQ(to_text(DataRate::bits_per_sec(3'000'000'000)), "3 Gbit/s");
  EXPECT_EQ(to_text(Duration{20ms}), "20 ms");
  EXPECT_EQ(to_text(DataSize::zero()), "0 B");
}

}  // namespace
}  // namespace sluice
