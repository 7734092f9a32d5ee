#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/traces/trace_helpers.h"
#include "traces/link_trace.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using testing::mbit;

// 8 Mbit/s (1 MB/s) for 10 s, an outage of 5 s, 16 Mbit/s for 5 s: 20 MB per lap of 20 s.
LinkTrace up_down_up(TraceEnd end = TraceEnd::kLoop) {
  LinkTrace trace;
  trace.name = "up_down_up";
  trace.end = end;
  trace.length = 20s;
  trace.steps = {{0s, mbit(8)}, {10s, DataRate::zero()}, {15s, mbit(16)}};
  return trace;
}

Instant at(Duration time) {
  return kRunStart + time;
}

TEST(TraceCursor, AStepHoldsFromItsStartUntilTheNext) {
  const LinkTrace trace = up_down_up();
  const TraceCursor cursor(trace, 0s);
  EXPECT_EQ(cursor.rate_at(at(0s)), mbit(8));
  EXPECT_EQ(cursor.rate_at(at(10s - 1ns)), mbit(8));
  EXPECT_EQ(cursor.rate_at(at(10s)), DataRate::zero());
  EXPECT_EQ(cursor.rate_at(at(15s)), mbit(16));
}

TEST(TraceCursor, ALoopingTraceBeginsAgain) {
  const LinkTrace trace = up_down_up();
  const TraceCursor cursor(trace, 0s);
  EXPECT_EQ(cursor.rate_at(at(20s - 1ns)), mbit(16));
  EXPECT_EQ(cursor.rate_at(at(20s)), mbit(8));
  EXPECT_EQ(cursor.next_change(at(16s)), at(20s));
  EXPECT_EQ(cursor.next_change(at(2000s)), at(2010s));
}

TEST(TraceCursor, AHoldingTraceKeepsItsLastRate) {
  const LinkTrace trace = up_down_up(TraceEnd::kHold);
  const TraceCursor cursor(trace, 0s);
  EXPECT_EQ(cursor.rate_at(at(1000h)), mbit(16));
  EXPECT_EQ(cursor.next_change(at(12s)), at(15s));
  EXPECT_EQ(cursor.next_change(at(15s)), std::nullopt);
  EXPECT_EQ(cursor.capacity_between(at(15s), at(25s)).bytes(), 20'000'000);
}

TEST(TraceCursor, AnOffsetShiftsEverythingToTheLeft) {
  const LinkTrace trace = up_down_up();
  for (const Duration offset : {Duration{12s}, Duration{112s}}) {  // five laps more are the same
    const TraceCursor cursor(trace, offset);
    EXPECT_EQ(cursor.rate_at(at(0s)), DataRate::zero());
    EXPECT_EQ(cursor.next_change(at(0s)), at(3s));
    EXPECT_EQ(cursor.next_change(at(3s)), at(8s));  // the lap's end
    EXPECT_EQ(cursor.capacity_between(at(0s), at(9s)).bytes(), 11'000'000);
  }
}

TEST(TraceCursor, AnOffsetPastTheEndOfAHoldingTraceMeetsTheLastRate) {
  const LinkTrace trace = up_down_up(TraceEnd::kHold);
  EXPECT_EQ(TraceCursor(trace, 30s).rate_at(at(0s)), mbit(16));
}

TEST(TraceCursor, AnOutageIsARateAndItsEndAChange) {
  const LinkTrace trace = up_down_up();
  const TraceCursor cursor(trace, 0s);
  EXPECT_EQ(cursor.capacity_between(at(10s), at(15s)), DataSize::zero());
  EXPECT_EQ(cursor.next_change(at(10s)), at(15s));
}

TEST(TraceCursor, EqualRatesOnBothSidesOfTheLapAreNoChange) {
  LinkTrace trace = up_down_up();
  trace.steps = {{0s, mbit(8)}, {5s, mbit(1)}, {10s, mbit(8)}};
  const TraceCursor cursor(trace, 0s);
  EXPECT_EQ(cursor.next_change(at(11s)),
            at(25s));  // past 20 s, where the next lap begins at 8 Mbit/s too
}

TEST(TraceCursor, EqualNeighboursAreNoChange) {
  LinkTrace trace = up_down_up();
  trace.steps = {{0s, mbit(8)}, {5s, mbit(8)}, {10s, mbit(1)}};
  EXPECT_EQ(TraceCursor(trace, 0s).next_change(at(0s)), at(10s));
}

TEST(TraceCursor, AConstantNeverChanges) {
  for (const TraceEnd end : {TraceEnd::kLoop, TraceEnd::kHold}) {
    LinkTrace trace = up_down_up(end);
    trace.steps = {{0s, mbit(8)}};
    const TraceCursor cursor(trace, 7s);
    EXPECT_EQ(cursor.next_change(at(0s)), std::nullopt);
    EXPECT_EQ(cursor.capacity_between(at(0s), at(3600s)).bytes(), 3'600'000'000);
  }
}

TEST(TraceCursor, ALapOfTheExampleMoves20Megabytes) {
  const LinkTrace trace = up_down_up();
  const TraceCursor cursor(trace, 0s);
  EXPECT_EQ(cursor.capacity_between(at(0s), at(20s)).bytes(), 20'000'000);
  EXPECT_EQ(cursor.capacity_between(at(5s), at(25s)).bytes(), 20'000'000);
  EXPECT_EQ(cursor.capacity_between(at(7s), at(7s)), DataSize::zero());
  EXPECT_EQ(cursor.capacity_between(at(7s), at(6s)), DataSize::zero());
}

TEST(TraceCursor, ManyLapsTakeNoLongerThanOne) {
  LinkTrace trace = up_down_up();
  trace.length = 2ns;  // 10^15 laps in what follows
  trace.steps = {{0ns, mbit(8)}, {1ns, mbit(24)}};
  EXPECT_EQ(TraceCursor(trace, 0s).capacity_between(at(0s), at(2'000'000s)).bytes(),
            4'000'000'000'000);
}

TEST(TraceCursor, BytesAreRoundedOnceNotPerStep) {
  LinkTrace trace = up_down_up();
  trace.length = 2s;
  trace.steps = {{0s, DataRate::bits_per_sec(4)}, {1s, DataRate::bits_per_sec(12)}};
  const TraceCursor cursor(trace, 0s);
  EXPECT_EQ(cursor.capacity_between(at(0s), at(2s)).bytes(), 2);  // 4 bits and 12 bits
  EXPECT_EQ(cursor.capacity_between(at(0s), at(1s)).bytes(), 0);  // half a byte
}

TEST(TraceCursor, WhatPasses2To63BytesIsAnError) {
  LinkTrace trace = up_down_up();
  trace.steps = {{0s, kMaxLinkRate}};  // 50 TB/s
  EXPECT_THROW((void)TraceCursor(trace, 0s).capacity_between(at(0s), at(24h * 365)),
               std::overflow_error);
}

TEST(TraceCursorDeathTest, AChunkClockedTraceHasNoCursor) {
  LinkTrace trace = up_down_up();
  trace.clock = TraceClock::kChunk;
  EXPECT_DEATH(TraceCursor(trace, 0s), "time-clocked");
}

// The same questions answered nanosecond by nanosecond.
class PlainTrace {
 public:
  PlainTrace(const LinkTrace& trace, Duration offset) : trace_(trace), offset_(offset) {}
  DataRate rate_at(std::int64_t ns) const {
    Duration position = offset_ + nanoseconds(ns);
    if (trace_.end == TraceEnd::kLoop) position %= trace_.length;
    DataRate rate;
    for (const RateStep& step : trace_.steps) {
      if (step.start <= position) rate = step.rate;
    }
    return rate;
  }
  std::optional<Instant> next_change(std::int64_t ns) const {
    for (std::int64_t later = ns + 1; later <= ns + 2 * to_ns(trace_.length); ++later) {
      if (rate_at(later) != rate_at(ns)) return at_ns(later);
    }
    return std::nullopt;
  }
  std::int64_t bytes_between(std::int64_t from, std::int64_t to) const {
    std::int64_t giga_bits = 0;  // rates below are whole Gbit/s: one ns moves whole bits
    for (; from < to; ++from) giga_bits += rate_at(from).bits_per_sec() / 1'000'000'000;
    return giga_bits / 8;
  }

 private:
  const LinkTrace& trace_;
  Duration offset_;
};

TEST(TraceCursor, AgreesWithAPlainWalkOn500RandomTraces) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomStream random(seed);
    LinkTrace trace;
    trace.end = random.bernoulli(0.5) ? TraceEnd::kLoop : TraceEnd::kHold;
    Duration start{};
    for (std::uint64_t i = 0, n = 1 + random.below(6); i < n; ++i) {
      trace.steps.push_back({start, mbit(1000 * static_cast<std::int64_t>(random.below(3)))});
      start += nanoseconds(1 + static_cast<std::int64_t>(random.below(5)));
    }
    trace.length = start;
    ASSERT_TRUE(check_trace(trace).ok());
    const Duration offset = nanoseconds(static_cast<std::int64_t>(random.below(40)));
    const TraceCursor cursor(trace, offset);
    const PlainTrace plain(trace, offset);
    for (std::int64_t from = 0; from < 70; from += 1 + static_cast<std::int64_t>(random.below(4))) {
      const std::int64_t to = from + static_cast<std::int64_t>(random.below(90));
      ASSERT_EQ(cursor.rate_at(at_ns(from)), plain.rate_at(from))
          << "seed " << seed << " at " << from;
      ASSERT_EQ(cursor.next_change(at_ns(from)), plain.next_change(from))
          << "seed " << seed << " at " << from;
      ASSERT_EQ(cursor.capacity_between(at_ns(from), at_ns(to)).bytes(),
                plain.bytes_between(from, to))
          << "seed " << seed << " from " << from << " to " << to;
    }
  }
}

}  // namespace
}  // namespace sluice
