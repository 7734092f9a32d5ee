// A trace reduced to pixel columns, and the distribution of its rates: what the picture shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/generator_helpers.h"
#include "traces/plot/columns.h"
#include "traces/plot/link_plot.h"
#include "traces/plot/workload_plot.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made;
using testing::mbit;
using ::testing::Not;

TEST(Columns, EachHasTheLowestTheHighestAndTheMeanWithin) {
  // 10 s: 4 s at 100, 1 s at 200, 5 s at 0 Mbit/s.
  const LinkTrace trace = made(
      StepSpec{{{4s, mbit(100)}, {1s, mbit(200)}, {5s, mbit(0)}}, StepSpec::Then::kRepeat}, 10s);
  EXPECT_THAT(columns_of(trace, 2), ElementsAre(Column{mbit(100), mbit(200), mbit(120)},
                                                Column{mbit(0), mbit(0), mbit(0)}));
  EXPECT_THAT(columns_of(trace, 1), ElementsAre(Column{mbit(0), mbit(200), mbit(60)}));
}

TEST(Columns, AChunkHoldsForAllColumnsItCovers) {
  const LinkTrace trace = made(UniformPerChunkSpec{mbit(100), mbit(1000), 2}, 0s);
  const DataRate first = trace.steps[0].rate, second = trace.steps[1].rate;
  EXPECT_THAT(columns_of(trace, 4),
              ElementsAre(Column{first, first, first}, Column{first, first, first},
                          Column{second, second, second}, Column{second, second, second}));
}

TEST(Columns, ThreeNanosecondsFillAPicture) {
  const LinkTrace trace =
      made(StepSpec{{{1ns, mbit(1)}, {2ns, mbit(2)}}, StepSpec::Then::kRepeat}, 3ns);
  const std::vector<Column> columns = columns_of(trace, 300);
  EXPECT_EQ(columns[99].mean, mbit(1));
  EXPECT_EQ(columns[100].mean, mbit(2));
  EXPECT_EQ(columns.back().mean, mbit(2));
}

TEST(Columns, TheLongestTraceDoesNotOverflow) {
  const LinkTrace trace = made(ConstantSpec{kMaxLinkRate}, kMaxTraceLength);
  EXPECT_EQ(columns_of(trace, 560).back().mean, kMaxLinkRate);
}

TEST(Outages, OnlyStretchesLongEnoughAreNamed) {
  const LinkTrace trace =
      made(StepSpec{{{4s, mbit(1)}, {1s, mbit(0)}, {3s, mbit(1)}, {2s, mbit(0)}}, {}}, 10s);
  EXPECT_EQ(outages_of(trace, 0.1).size(), 2U);
  const std::vector<Outage> long_ones = outages_of(trace, 0.15);
  ASSERT_EQ(long_ones.size(), 1U);
  EXPECT_EQ(long_ones[0].begin_fraction, 0.8);
  EXPECT_EQ(long_ones[0].end_fraction, 1.0);
}

TEST(Distribution, SharesAreOfTime) {
  // 2 s at 0, 5 s at 100, 3 s at 200 Mbit/s: mean 110, variance 2 * 110^2 + 5 * 10^2 + 3 * 90^2
  // over 10 = 4900, deviation 70.
  const RateDistribution d(made(
      StepSpec{{{5s, mbit(100)}, {2s, mbit(0)}, {3s, mbit(200)}}, StepSpec::Then::kRepeat}, 10s));
  EXPECT_EQ(d.points().size(), 3U);
  EXPECT_EQ(d.zero_fraction(), 0.2);
  EXPECT_EQ(d.quantile(0.2), mbit(0));
  EXPECT_EQ(d.quantile(0.21), mbit(100));
  EXPECT_EQ(d.quantile(0.7), mbit(100));
  EXPECT_EQ(d.quantile(1), mbit(200));
  EXPECT_NEAR(d.coefficient_of_variation(), 70.0 / 110, 1e-12);
}

TEST(Distribution, ALinkThatIsAlwaysDownHasNoVariation) {
  const RateDistribution d(made(ConstantSpec{DataRate::zero()}, 1s));
  EXPECT_EQ(d.zero_fraction(), 1);
  EXPECT_EQ(d.coefficient_of_variation(), 0);
}

std::string picture(const LinkTrace& trace, RateAxisKind axis = RateAxisKind::kAuto) {
  const PlottedLink link{&trace, trace.name, "made"};
  return plot_links({&link, 1}, axis);
}

TEST(Plot, AMillionStepsTakeNoMoreRoomThanAThousand) {
  const OuSpec spec{mbit(1000), 0.5, 5s, 1ms, DataRate::zero(), kMaxLinkRate};
  EXPECT_LT(picture(made(spec, 1000s)).size(), 50'000U);
}

TEST(Plot, TheSameTraceMakesTheSameBytes) {
  EXPECT_EQ(picture(made(MmwaveSpec{}, 10s)), picture(made(MmwaveSpec{}, 10s)));
}

TEST(Plot, TheAxisIsLogarithmicWhereRatesSpread) {
  const LinkTrace even = made(SquareSpec{mbit(1000), 1s, mbit(100), 1s}, 10s);
  const LinkTrace spread = made(SquareSpec{mbit(1000), 1s, mbit(1), 99s}, 100s);
  EXPECT_THAT(picture(even), Not(HasSubstr("logarithmic")));
  EXPECT_THAT(picture(even, RateAxisKind::kLogarithmic), HasSubstr("logarithmic"));
  EXPECT_THAT(picture(spread), HasSubstr("logarithmic"));
  EXPECT_THAT(picture(spread, RateAxisKind::kLinear), Not(HasSubstr("logarithmic")));
}

TEST(Plot, ExtremesAreDrawn) {
  for (const DataRate rate : {DataRate::zero(), DataRate::bits_per_sec(1), kMaxLinkRate}) {
    for (const auto axis :
         {RateAxisKind::kAuto, RateAxisKind::kLinear, RateAxisKind::kLogarithmic}) {
      for (const Duration length : {Duration{1ns}, kMaxTraceLength}) {
        const std::string svg = picture(made(ConstantSpec{rate}, length), axis);
        EXPECT_THAT(svg, Not(HasSubstr("nan")));
        EXPECT_THAT(svg, Not(HasSubstr("inf")));
      }
    }
  }
}

TEST(LengthShares, SharesAtTheHighestOfABinAreExact) {
  LengthShares shares;
  for (std::int64_t tokens = 1; tokens <= 1000; ++tokens) shares.add(tokens);
  for (const SharePoint& point : shares.points())
    EXPECT_DOUBLE_EQ(point.fraction, point.value / 1000);
  EXPECT_EQ(shares.quantile(0), 1);
  EXPECT_EQ(shares.quantile(0.05), 50);
  EXPECT_GE(shares.quantile(0.5), 500);
  EXPECT_LE(shares.quantile(0.5), 505);
  EXPECT_EQ(shares.quantile(1), 1000);
}

TEST(LengthShares, NoTokensAndTheMostAreTakenIn) {
  LengthShares shares;
  shares.add(0);
  shares.add(kMaxRequestTokens);
  EXPECT_EQ(shares.points().front().value, 0);
  EXPECT_EQ(shares.points().back().value, 1e9);
}

WorkloadShape shape(std::string_view text, std::size_t num_columns) {
  const testing::TraceFolder folder;
  auto made = shape_of_workload(folder.write("w.csv", text), {}, num_columns);
  if (made.ok()) return std::move(*made);
  ADD_FAILURE() << made.error().to_line();
  return {};
}

TEST(WorkloadShape, RequestsFallIntoTheColumnOfTheirArrival) {
  const WorkloadShape s = shape(
      "arrived_at,num_prefill_tokens,num_decode_tokens\n0,100,1\n1,300,2\n9,50,3\n10,70,4\n", 5);
  EXPECT_EQ(s.length, 10s);
  EXPECT_THAT(s.requests, ElementsAre(2, 0, 0, 0, 2));
  EXPECT_EQ(s.input_tokens[0]->lowest, 100);
  EXPECT_EQ(s.input_tokens[0]->highest, 300);
  EXPECT_EQ(s.input_tokens[0]->mean, 200);
  EXPECT_FALSE(s.input_tokens[1]);
  EXPECT_EQ(s.input_tokens[4]->mean, 60);
}

TEST(WorkloadShape, WithoutTimesColumnsDivideTheRequests) {
  const WorkloadShape s = shape(
      "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n1,1,2,1\n2,2,4,1\n3,3,6,1\n",
      3);
  EXPECT_FALSE(s.length);
  EXPECT_THAT(s.requests, ElementsAre(1, 1, 1));
}

TEST(WorkloadShape, OneRequestFillsASecond) {
  const WorkloadShape s = shape("arrived_at,num_prefill_tokens,num_decode_tokens\n5,100,1\n", 4);
  EXPECT_EQ(s.length, 1s);
  const PlottedWorkload plotted{"one", shape("arrived_at,num_prefill_tokens,num_decode_tokens\n"
                                             "5,100,1\n",
                                             kNumColumns)};
  const std::string svg = plot_workloads({&plotted, 1});
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, HasSubstr("read as vidur · 1 request in"));
}

}  // namespace
}  // namespace sluice
