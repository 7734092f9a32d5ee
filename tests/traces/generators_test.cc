// Generators: what can be checked by head is; what is random is checked against its law, with the
// tolerance stated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/traces/generator_helpers.h"
#include "traces/generators/markov_chain.h"
#include "traces/generators/parameters.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made;
using testing::mbit;
using testing::mean_mbit;
using testing::mean_seconds;
using testing::refusal;
using testing::stays;

TEST(Constant, IsOneStepForTheWholeLength) {
  const LinkTrace trace = made(ConstantSpec{mbit(1000)}, 60s);
  EXPECT_EQ(trace.length, 60s);
  EXPECT_EQ(trace.kind, TraceKind::kCapacity);
  EXPECT_EQ(trace.name, "constant rate=1Gbit/s");
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(1000)}));
}

TEST(Step, PartsRepeatAndTheLastIsCutAtTheLength) {
  const LinkTrace trace =
      made(StepSpec{{{2s, mbit(10)}, {1s, mbit(5)}}, StepSpec::Then::kRepeat}, 7s);
  EXPECT_EQ(trace.end, TraceEnd::kLoop);
  EXPECT_EQ(trace.length, 7s);
  EXPECT_THAT(trace.steps,
              ElementsAre(RateStep{0s, mbit(10)}, RateStep{2s, mbit(5)}, RateStep{3s, mbit(10)},
                          RateStep{5s, mbit(5)}, RateStep{6s, mbit(10)}));
}

TEST(Step, OnceThroughTheLastRateCanStay) {
  const LinkTrace trace =
      made(StepSpec{{{2s, mbit(10)}, {1s, mbit(5)}}, StepSpec::Then::kHold}, 7s);
  EXPECT_EQ(trace.end, TraceEnd::kHold);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(10)}, RateStep{2s, mbit(5)}));
  EXPECT_EQ(TraceCursor(trace, 0s).rate_at(kRunStart + 1h), mbit(5));
}

TEST(Square, ThreeQuartersHighMakeAMeanOf775) {
  const LinkTrace trace = made(SquareSpec{mbit(1000), 3s, mbit(100), 1s}, 40s);
  EXPECT_EQ(trace.steps.size(), 20U);
  EXPECT_EQ(summarise(trace).mean, mbit(775));
}

const MarkovSpec kTwoStates{
    {{mbit(3000), 2s}, {mbit(100), 500ms}}, MarkovSpec::Dwell::kExponential, {}};

TEST(Markov, TwoStatesHaveTheMeanOfTheirTimeShares) {
  // (3000 * 2 s + 100 * 0.5 s) / 2.5 s = 2420 Mbit/s; standard error over 100 000 s about 3.3;
  // tolerance four of them.
  EXPECT_NEAR(mean_mbit(made(kTwoStates, 100'000s)), 2420, 13);
}

TEST(Markov, ExponentialStaysHaveTheirMeanAndTheirShape) {
  const std::vector<Duration> high = stays(made(kTwoStates, 100'000s), mbit(3000));
  ASSERT_GT(high.size(), 35'000U);
  EXPECT_NEAR(mean_seconds(high), 2.0, 0.04);  // standard error 0.01
  const auto longer = std::count_if(high.begin(), high.end(), [](Duration d) { return d > 2s; });
  EXPECT_NEAR(static_cast<double>(longer) / static_cast<double>(high.size()), std::exp(-1.0),
              0.01);  // s.e. 0.0024
}

TEST(Markov, FixedStaysAreAllTheSame) {
  MarkovSpec spec = kTwoStates;
  spec.dwell = MarkovSpec::Dwell::kFixed;
  const LinkTrace trace = made(spec, 1000s);
  for (const Duration stay : stays(trace, mbit(3000))) ASSERT_EQ(stay, 2s);
  for (const Duration stay : stays(trace, mbit(100))) ASSERT_EQ(stay, 500ms);
}

TEST(Markov, TheFirstInstantFollowsTheStationaryLaw) {
  for (const auto dwell : {MarkovSpec::Dwell::kExponential, MarkovSpec::Dwell::kFixed}) {
    MarkovSpec spec = kTwoStates;
    spec.dwell = dwell;
    int num_high = 0;
    double first_stays_s = 0;
    for (std::uint64_t replicate = 0; replicate < 4000; ++replicate) {
      const LinkTrace trace = made(spec, 1000s, 1, replicate);
      if (trace.steps.front().rate != mbit(3000)) continue;
      ++num_high;
      first_stays_s += to_seconds(step_end(trace, 0));
    }
    EXPECT_NEAR(num_high / 4000.0, 0.8, 0.025);  // 2 s of 2.5 s; standard error 0.0063
    // What is left of an exponential stay is as long as a whole one, of a fixed one half as long.
    EXPECT_NEAR(first_stays_s / num_high, dwell == MarkovSpec::Dwell::kFixed ? 1.0 : 2.0,
                0.14);  // s.e. 0.035, 0.01
  }
}

TEST(Markov, TransitionsWeighTheStates) {
  // 0 -> 1 -> (0 or 2, evenly); 2 -> 1: half of all visits are to 1, a quarter each to 0 and 2.
  const MarkovSpec spec{{{mbit(1), 1s}, {mbit(2), 1s}, {mbit(3), 1s}},
                        MarkovSpec::Dwell::kExponential,
                        {{0, 1, 0}, {0.5, 0, 0.5}, {0, 1, 0}}};
  EXPECT_THAT(
      stationary_visits(spec.transitions),
      ElementsAre(DoubleNear(0.25, 1e-12), DoubleNear(0.5, 1e-12), DoubleNear(0.25, 1e-12)));
  const LinkTrace trace = made(spec, 50'000s);
  for (std::size_t i = 1; i < trace.steps.size(); ++i) {
    ASSERT_TRUE(trace.steps[i].rate == mbit(2) || trace.steps[i - 1].rate == mbit(2));
  }
  double middle_s = 0;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    if (trace.steps[i].rate == mbit(2))
      middle_s += to_seconds(step_end(trace, i) - trace.steps[i].start);
  }
  EXPECT_NEAR(middle_s / 50'000, 0.5, 0.01);  // standard error 0.0022
}

TEST(Markov, WithoutTransitionsAllOtherStatesAreEquallyLikely) {
  EXPECT_THAT(stationary_visits(even_transitions(4)), ::testing::Each(DoubleNear(0.25, 1e-12)));
  const MarkovSpec spec{
      {{mbit(1), 1s}, {mbit(2), 1s}, {mbit(3), 1s}, {mbit(4), 1s}}, MarkovSpec::Dwell::kFixed, {}};
  EXPECT_NEAR(mean_mbit(made(spec, 50'000s)), 2.5, 0.02);  // standard error about 0.004
}

TEST(Uniform, EachIntervalIsDrawnAnewFromLowToHigh) {
  const LinkTrace trace = made(UniformSpec{mbit(100), mbit(3000), 1s}, 100'000s);
  const TraceSummary s = summarise(trace);
  EXPECT_GE(s.min, mbit(100));
  EXPECT_LE(s.max, mbit(3000));
  EXPECT_NEAR(s.mean.megabits_per_sec(), 1550, 11);  // standard error 2.65
  const auto low_quarter =
      std::count_if(trace.steps.begin(), trace.steps.end(),
                    [](const RateStep& step) { return step.rate < mbit(825); });
  EXPECT_NEAR(static_cast<double>(low_quarter) / 100'000, 0.25, 0.006);  // standard error 0.0014
}

TEST(Uniform, BothEndsAreIncluded) {
  const LinkTrace trace =
      made(UniformSpec{DataRate::bits_per_sec(1), DataRate::bits_per_sec(3), 1s}, 1000s);
  const TraceSummary s = summarise(trace);
  EXPECT_EQ(s.min.bits_per_sec(), 1);
  EXPECT_EQ(s.max.bits_per_sec(), 3);
}

TEST(Uniform, LowEqualToHighIsAConstant) {
  EXPECT_THAT(made(UniformSpec{mbit(7), mbit(7), 1s}, 10s).steps,
              ElementsAre(RateStep{0s, mbit(7)}));
}

TEST(UniformPerChunk, HasOneRatePerChunkAndNoTime) {
  const LinkTrace trace = made(UniformPerChunkSpec{mbit(100), mbit(10'000), 100'000}, 0s);
  EXPECT_EQ(trace.clock, TraceClock::kChunk);
  EXPECT_EQ(trace.length, 0s);
  EXPECT_EQ(trace.steps.size(), 100'000U);
  EXPECT_NEAR(mean_mbit(trace), 5050, 37);  // standard error 9.04
}

TEST(UniformPerChunk, TheLengthOfTheRunDoesNotMatter) {
  const UniformPerChunkSpec spec{mbit(100), mbit(10'000), 10};
  EXPECT_EQ(made(spec, 0s).sha256, made(spec, 60s).sha256);
}

// Anyone's build draws these: sluice trace synth uniform-per-chunk low=100Mbit/s high=10Gbit/s
// chunks=3 --seed 7 OUT
TEST(Seeds, SevenMeansTheseRatesEverywhere) {
  EXPECT_THAT(made(UniformPerChunkSpec{mbit(100), mbit(10'000), 3}, 0s, 7).steps,
              ElementsAre(RateStep{0s, DataRate::bits_per_sec(9'593'463'295)},
                          RateStep{0s, DataRate::bits_per_sec(226'481'501)},
                          RateStep{0s, DataRate::bits_per_sec(744'616'419)}));
}

TEST(Seeds, SeedReplicateParametersAndLengthMakeTheTrace) {
  const LinkTrace trace = made(kTwoStates, 100s, 1, 0);
  EXPECT_EQ(made(kTwoStates, 100s, 1, 0).steps, trace.steps);
  EXPECT_EQ(made(kTwoStates, 100s, 1, 0).sha256, trace.sha256);
  EXPECT_NE(made(kTwoStates, 100s, 2, 0).steps, trace.steps);
  EXPECT_NE(made(kTwoStates, 100s, 2, 0).sha256, trace.sha256);
  EXPECT_NE(made(kTwoStates, 100s, 1, 1).steps, trace.steps);
  EXPECT_NE(made(kTwoStates, 100s, 1, 1).sha256, trace.sha256);
  EXPECT_NE(made(kTwoStates, 101s, 1, 0).sha256, trace.sha256);
}

TEST(Seeds, ALongerTraceBeginsLikeAShorterOne) {
  const auto at_90s = [](const LinkTrace& t) {
    return TraceCursor(t, 0s).capacity_between(kRunStart, kRunStart + 90s);
  };
  EXPECT_EQ(at_90s(made(kTwoStates, 100s)), at_90s(made(kTwoStates, 1000s)));
}

TEST(Generators, ParametersOutOfRangeAreNamed) {
  EXPECT_THAT(refusal(ConstantSpec{mbit(-1)}),
              HasSubstr("rate: -1000000bit/s is not a rate of a link"));
  EXPECT_THAT(refusal(ConstantSpec{kMaxLinkRate + mbit(1)}), HasSubstr("rate: "));
  EXPECT_THAT(refusal(StepSpec{}), HasSubstr("parts: the list is empty"));
  EXPECT_THAT(refusal(StepSpec{{{0s, mbit(1)}}, {}}), HasSubstr("parts[0]: 0ns is out of range"));
  EXPECT_THAT(refusal(StepSpec{{{1s, mbit(1)}, {1s, mbit(-1)}}, {}}),
              HasSubstr("parts[1]: -1000000bit/s"));
  EXPECT_THAT(refusal(StepSpec{{{1ns, mbit(1)}, {1ns, mbit(2)}}, {}}),
              HasSubstr("parts: more than 10000000"));
  EXPECT_THAT(refusal(SquareSpec{mbit(1), 1s, mbit(2), 1s}),
              HasSubstr("low: 2Mbit/s is above high, 1Mbit/s"));
  EXPECT_THAT(refusal(SquareSpec{mbit(2), 1s, mbit(1), -1s}), HasSubstr("low_time: "));
  EXPECT_THAT(refusal(SquareSpec{mbit(2), 1ns, mbit(1), 2ns}),
              HasSubstr("high_time: more than 10000000"));
  EXPECT_THAT(refusal(UniformSpec{mbit(2), mbit(1), 1s}), HasSubstr("low: 2Mbit/s is above high"));
  EXPECT_THAT(refusal(UniformSpec{mbit(1), mbit(2), 0s}),
              HasSubstr("interval: 0ns is out of range"));
  EXPECT_THAT(refusal(UniformSpec{mbit(1), mbit(2), 1ns}),
              HasSubstr("interval: more than 10000000"));
  EXPECT_THAT(refusal(UniformPerChunkSpec{mbit(1), mbit(2), 0}),
              HasSubstr("chunks: 0 is out of range"));
  EXPECT_THAT(refusal(UniformPerChunkSpec{mbit(1), mbit(2), 10'000'001}),
              HasSubstr("chunks: 10000001 is out of"));
  EXPECT_THAT(refusal(ConstantSpec{mbit(1)}, 0s), HasSubstr("length: 0ns is out of range"));
  EXPECT_THAT(refusal(ConstantSpec{mbit(1)}, kMaxTraceLength + 1ns), HasSubstr("length: "));
}

TEST(Generators, TransitionsThatAreNoChainAreNamed) {
  const auto with = [](std::vector<std::vector<double>> transitions) {
    return refusal(
        MarkovSpec{{{mbit(1), 1s}, {mbit(2), 1s}, {mbit(3), 1s}}, {}, std::move(transitions)});
  };
  EXPECT_THAT(with({{0, 1, 0}}), HasSubstr("transitions: 1 rows for 3 states"));
  EXPECT_THAT(with({{0, 1}, {1, 0}, {0, 1}}), HasSubstr("transitions[0]: 2 entries for 3 states"));
  EXPECT_THAT(with({{0, 2, -1}, {1, 0, 0}, {0, 1, 0}}),
              HasSubstr("transitions[0][1]: 2 is not a probability"));
  EXPECT_THAT(with({{0, std::nan(""), 1}, {1, 0, 0}, {0, 1, 0}}),
              HasSubstr("transitions[0][1]: nan"));
  EXPECT_THAT(with({{0, 0.5, 0.4}, {1, 0, 0}, {0, 1, 0}}),
              HasSubstr("transitions[0]: the row sums to 0.9"));
  EXPECT_THAT(with({{0.5, 0.5, 0}, {1, 0, 0}, {0, 1, 0}}),
              HasSubstr("transitions[0][0]: a state does not follow itself"));
  EXPECT_THAT(with({{0, 1, 0}, {1, 0, 0}, {0, 1, 0}}),
              HasSubstr("states 0 and 2 cannot reach each other"));
  EXPECT_THAT(refusal(MarkovSpec{{{mbit(1), 1s}}, {}, {}}),
              HasSubstr("states: 1 of them; use 2 to 64"));
  EXPECT_THAT(refusal(MarkovSpec{{{mbit(1), 1s}, {mbit(2), 0s}}, {}, {}}),
              HasSubstr("states[1]: 0ns is out of range"));
  EXPECT_THAT(refusal(MarkovSpec{{{mbit(1), 1s}, {mbit(2), 1ns}}, {}, {}}),
              HasSubstr("states[1]: a dwell time of 1ns"));
}

std::vector<ParameterText> words(std::string_view text) {
  std::vector<ParameterText> out;
  for (const std::string_view word : split_list(text, ' ')) {
    const std::size_t equals = word.find('=');
    out.push_back({std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))});
  }
  return out;
}

TEST(SpecText, WhatIsDescribedIsReadBack) {
  const std::vector<GeneratorSpec> specs{
      ConstantSpec{DataRate::bits_per_sec(1'234'567'891)},
      StepSpec{{{1500ms, mbit(10)}, {1ns, DataRate::zero()}}, StepSpec::Then::kHold},
      SquareSpec{mbit(1000), 10s, mbit(100), 5s},
      kTwoStates,
      MarkovSpec{{{mbit(1), 1s}, {mbit(2), 7us}, {mbit(3), 1s}},
                 MarkovSpec::Dwell::kFixed,
                 {{0, 1, 0}, {1.0 / 3, 0, 2.0 / 3}, {0, 1, 0}}},
      SawtoothSpec{mbit(100), mbit(1000), 20s, 40, SawtoothSpec::Shape::kTriangle},
      OnOffSpec{mbit(100), 20s, DwellLaw::kFixed, mbit(1), 7us, DwellLaw::kExponential},
      OuSpec{mbit(1000), 0.1 + 0.2, 5s, 1ms, mbit(7), mbit(3000)},
      OuSpec{mbit(1000), 0.5, 5s, 1ms, DataRate::zero(), kMaxLinkRate},
      QuantilesSpec{{{0, DataRate::zero()}, {1.0 / 3, mbit(5)}, {1, mbit(9)}}, 10s, 1s},
      MmwaveSpec{},
      UniformSpec{mbit(100), mbit(3000), 250ms},
      UniformPerChunkSpec{mbit(100), mbit(10'000), 10},
  };
  for (const GeneratorSpec& spec : specs) {
    const std::string text = describe(spec);
    const std::size_t space = text.find(' ');
    const auto again = make_spec(text.substr(0, space), words(text.substr(space + 1)));
    ASSERT_TRUE(again.ok()) << text << ": " << again.error().to_line();
    EXPECT_EQ(*again, spec) << text;
  }
}

TEST(SpecText, TheExamplesInTheTableWork) {
  for (const GeneratorInfo& generator : generators()) {
    std::vector<ParameterText> parameters;
    for (const ParameterInfo& p : generator.parameters)
      parameters.push_back({std::string(p.name), std::string(p.example)});
    const auto spec = make_spec(generator.id, parameters);
    ASSERT_TRUE(spec.ok()) << generator.id << ": " << spec.error().to_line();
    EXPECT_EQ(id_of(*spec), generator.id);
    EXPECT_EQ(made(*spec, 60s).clock, generator.clock);
  }
}

TEST(SpecText, WhatIsWrongIsNamedWithTheNearestName) {
  const auto refused = [](std::string_view id, std::string_view text) {
    const auto spec = make_spec(id, words(text));
    return spec.ok() ? "made" : spec.error().to_line();
  };
  EXPECT_THAT(refused("markow", "rate=1Gbit/s"),
              HasSubstr("unknown generator `markow`; did you mean `markov`?"));
  EXPECT_THAT(refused("square", "hihg=1Gbit/s"),
              HasSubstr("square: unknown parameter `hihg`; did you mean `high`?"));
  EXPECT_THAT(refused("constant", "rate=1Gbit/s rate=2Gbit/s"),
              HasSubstr("constant: `rate` is given twice"));
  EXPECT_THAT(refused("uniform", "low=1Mbit/s high=2Mbit/s"),
              HasSubstr("uniform: `interval` is missing; give the time after which the rate is "
                        "drawn anew, as in `interval=1s`"));
  EXPECT_THAT(refused("constant", "rate=5"), HasSubstr("rate: `5` has no unit"));
  EXPECT_THAT(refused("step", "parts=1Gbit/s"),
              HasSubstr("parts[0]: `1Gbit/s` is not a rate and a time"));
  EXPECT_THAT(refused("step", "parts=1Gbit/s:1s,2Gbit/s:x"),
              HasSubstr("parts[1]: `x` is not a quantity"));
  EXPECT_THAT(refused("step", "parts=1Gbit/s:1s then=stop"), HasSubstr("then: unknown `stop`"));
  EXPECT_THAT(refused("markov", "states=1Gbit/s:1s,2Gbit/s:1s dwell=fix"),
              HasSubstr("dwell: unknown `fix`"));
  EXPECT_THAT(refused("markov", "states=1Gbit/s:1s,2Gbit/s:1s transitions=0,x/1,0"),
              HasSubstr("transitions[0][1]: `x`"));
  EXPECT_THAT(refused("sawtooth", "low=1Mbit/s high=2Mbit/s period=1s steps=4 shape=rize"),
              HasSubstr("shape: unknown `rize`; did you mean `rise`?"));
  EXPECT_THAT(refused("quantiles", "points=0:1Mbit/s,1 time_constant=1s step=1s"),
              HasSubstr("points[1]: `1` is not a fraction and a rate; write `0.5:1Gbit/s`"));
  EXPECT_THAT(refused("ou", "mean=1Gbit/s cv=half time_constant=1s step=1s"),
              HasSubstr("cv: `half`"));
  EXPECT_THAT(refused("uniform-per-chunk", "low=1Mbit/s high=2Mbit/s chunks=many"),
              HasSubstr("chunks: `many`"));
}

}  // namespace
}  // namespace sluice
