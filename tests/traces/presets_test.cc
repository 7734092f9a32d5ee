// Presets have the statistics that their rows name: those of the public data sets they stand for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/traces/generator_helpers.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using testing::made;

struct Statistics {
  const char* preset;
  double mean_mbit, variation, p10_mbit, p50_mbit, p90_mbit, zero_fraction;
  double correlation_over_5s;  // 0: not known
};

// As in the presets' rows.
const std::vector<Statistics> kPublished{
    {"lumos5g", 523, 0.88, 44, 429, 1180, 0, 0},
    {"lumos5g-walking", 722, 0.80, 19, 702, 1610, 0.043, 0.62},
    {"lumos5g-driving", 154, 1.16, 17, 103, 403, 0.014, 0.19},
    {"irish-5g-driving", 30.6, 1.93, 0.60, 9.2, 105, 0.026, 0.42},
    {"starlink-driving", 224, 0.44, 94, 225, 350, 0.003, 0.60},
};

GeneratorSpec spec_of(std::string_view preset, std::vector<ParameterText> given = {}) {
  const auto spec = make_spec(preset, given);
  if (spec.ok()) return *spec;
  ADD_FAILURE() << spec.error().to_line();
  return ConstantSpec{};
}

TEST(Presets, EachHasPublishedStatistics) {
  ASSERT_EQ(link_presets().size(), kPublished.size());
  for (std::size_t i = 0; i < kPublished.size(); ++i) {
    EXPECT_EQ(link_presets()[i].id, kPublished[i].preset);
    EXPECT_FALSE(link_presets()[i].source.empty());
  }
}

// Over 10^6 s, that is 40 000 independent stretches or more. The fit of mean and variation is
// within 5 %, quantiles within 5 % (10 % where the curve is steep: p10), shares within 0.005,
// correlations within 0.1.
TEST(Presets, ALongTraceHasTheStatisticsOfItsSource) {
  for (const Statistics& published : kPublished) {
    SCOPED_TRACE(published.preset);
    const LinkTrace trace = made(spec_of(published.preset), 1'000'000s);
    const RateDistribution distribution(trace);
    const auto quantile_mbit = [&](double f) {
      return distribution.quantile(f).megabits_per_sec();
    };
    EXPECT_NEAR(testing::mean_mbit(trace), published.mean_mbit, 0.05 * published.mean_mbit);
    EXPECT_NEAR(distribution.coefficient_of_variation(), published.variation,
                0.05 * published.variation);
    EXPECT_NEAR(quantile_mbit(0.1), published.p10_mbit, 0.1 * published.p10_mbit);
    EXPECT_NEAR(quantile_mbit(0.5), published.p50_mbit, 0.05 * published.p50_mbit);
    EXPECT_NEAR(quantile_mbit(0.9), published.p90_mbit, 0.05 * published.p90_mbit);
    EXPECT_NEAR(distribution.zero_fraction(), published.zero_fraction, 0.005);
    if (published.correlation_over_5s == 0) continue;
    const std::vector<double> rates = testing::means_mbit(trace, 1s);
    EXPECT_NEAR(testing::correlation(rates, 5), published.correlation_over_5s, 0.1);
  }
}

TEST(Presets, ATraceIsNamedByItsParametersNotByThePreset) {
  const GeneratorSpec spec = spec_of("starlink-driving");
  EXPECT_EQ(id_of(spec), "quantiles");
  EXPECT_THAT(describe(spec), ::testing::StartsWith("quantiles points=0:0bit/s,0.003:0bit/s,"));
}

TEST(Presets, WhatIsGivenGoesBeforeThePreset) {
  const GeneratorSpec spec = spec_of("lumos5g", {{"step", "100ms"}});
  EXPECT_EQ(std::get<QuantilesSpec>(spec).step, 100ms);
  EXPECT_EQ(std::get<QuantilesSpec>(spec).time_constant, 12s);
}

TEST(Presets, AWrongNameOrParameterIsTold) {
  EXPECT_THAT(make_spec("lumos5g-walkin", {}).error().to_line(),
              ::testing::HasSubstr("did you mean `lumos5g-walking`?"));
  const std::vector<ParameterText> wrong{{"stp", "1s"}};
  EXPECT_THAT(make_spec("lumos5g", wrong).error().to_line(),
              ::testing::HasSubstr("quantiles: unknown parameter `stp`; did you mean `step`?"));
}

}  // namespace
}  // namespace sluice
