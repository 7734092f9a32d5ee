// Common random numbers and determinism: what a replicate draws never depends on the policy or on
// what ran before.
#include <gtest/gtest.h>

#include "sim/serving/draws.h"
#include "sim/serving/run.h"
#include "tests/scenario/scenario_files.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

Scenario fluctuating(const std::string& arrivals) {
  std::string text =
      replaced(kSmallScenario, "capacity: 1Gbit/s",
               "capacity: {generator: markov, states: [\"2Gbit/s:1s\", \"200Mbit/s:1s\"]}");
  text = replaced(text, "arrivals: isolated", "arrivals: " + arrivals);
  text = replaced(text, "loads: 2", "loads: 5");
  Result<Scenario> s = read_text(text);
  EXPECT_TRUE(s.ok()) << (s ? "" : s.error().to_line());
  return *s;
}

TEST(Replicate, AllPoliciesMeetTheSameLinkLengthsAndArrivals) {
  for (const char* arrivals : {"isolated", "{every: 3s}", "{poisson_mean_gap: 2s}"}) {
    const Scenario s = fluctuating(arrivals);
    const Result<RunOutcome> a =
        run_replicate(s, *parse_policy("fixed:level=int8@token"), 1, "fluid");
    const Result<RunOutcome> b = run_replicate(s, *parse_policy("recompute"), 1, "fluid");
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a->trace.steps, b->trace.steps);
    ASSERT_EQ(a->loads.size(), 5u);
    for (std::size_t i = 0; i < a->loads.size(); ++i) {
      EXPECT_EQ(a->loads[i].context_tokens, b->loads[i].context_tokens);
      EXPECT_EQ(a->loads[i].arrived_at, b->loads[i].arrived_at) << arrivals;
    }
  }
}

TEST(Replicate, TheSameArgumentsGiveTheSameOutcomeWhateverRanBefore) {
  const Scenario s = fluctuating("{poisson_mean_gap: 1s}");
  const PolicySpec policy = *parse_policy("cachegen-published");
  const Result<RunOutcome> first = run_replicate(s, policy, 2, "fluid");
  (void)run_replicate(s, policy, 0, "fluid");
  const Result<RunOutcome> again = run_replicate(s, policy, 2, "fluid");
  ASSERT_TRUE(first.ok() && again.ok());
  for (std::size_t i = 0; i < first->loads.size(); ++i) {
    EXPECT_EQ(first->loads[i].first_token_at, again->loads[i].first_token_at);
    EXPECT_EQ(first->loads[i].bytes_moved, again->loads[i].bytes_moved);
  }
}

TEST(Replicate, AnotherReplicateOrSeedDrawsAnotherLinkAndOtherLengths) {
  Scenario s = fluctuating("isolated");
  const auto zero = draw_replicate(s, 0), one = draw_replicate(s, 1);
  EXPECT_NE(zero->cables.at(0).there.steps, one->cables.at(0).there.steps);
  EXPECT_NE(zero->loads.at(0).context_tokens, one->loads.at(0).context_tokens);
  s.seed = 8;
  EXPECT_NE(draw_replicate(s, 0)->cables.at(0).there.steps, zero->cables.at(0).there.steps);
}

TEST(SharedArrivals, LoadsThatOverlapShareTheLinkAndTheGpuAndTakeLonger) {
  const std::string text = replaced(kSmallScenario, "{low: 1000, high: 4000}", "3000");
  const Result<Scenario> alone = read_text(text);
  const Result<Scenario> together =
      read_text(replaced(text, "arrivals: isolated", "arrivals: {every: 1ms}"));
  const PolicySpec policy = *parse_policy("fixed:level=int8@token");
  const Result<RunOutcome> a = run_replicate(*alone, policy, 0, "fluid");
  const Result<RunOutcome> b = run_replicate(*together, policy, 0, "fluid");
  ASSERT_TRUE(a.ok() && b.ok());
  // Two loads on one link: the last to end takes nearly twice the time of one alone. Which one that
  // is depends on whose slow start ended first.
  EXPECT_GT(std::max(*b->loads[0].ttft(), *b->loads[1].ttft()), *a->loads[1].ttft() * 17 / 10);
  EXPECT_EQ(b->metrics.bytes_moved, a->metrics.bytes_moved);
}

TEST(Metrics, GpuBusyShareIsTheRecomputeTimeOverTheRun) {
  const Scenario s = *read_text(kSmallScenario);
  const Result<RunOutcome> run = run_replicate(s, *parse_policy("recompute"), 0, "fluid");
  ASSERT_TRUE(run.ok());
  EXPECT_DOUBLE_EQ(run->metrics.gpu_busy_fraction, 1.0);  // nothing but prefill, back to back
  EXPECT_EQ(run->metrics.link_utilisation, 0.0);
  EXPECT_EQ(run->metrics.bytes_moved, DataSize::zero());
}

TEST(Metrics, AFetchingLoadKeepsItsLinkNearlyFullAndStoresEveryVersion) {
  const Scenario s = *read_text(replaced(kSmallScenario, "{low: 1000, high: 4000}", "3000"));
  const Result<RunOutcome> run =
      run_replicate(s, *parse_policy("fixed:level=int8@token"), 0, "fluid");
  ASSERT_TRUE(run.ok());
  EXPECT_GT(run->metrics.link_utilisation, 0.7);
  EXPECT_LE(run->metrics.link_utilisation, 1.0);
  // 3000 tokens x 65 536 elements at 8.00 and 2.26 bit.
  EXPECT_EQ(run->metrics.stored_per_context.bytes(), 196'608'000 + 55'541'760);
}

}  // namespace
}  // namespace sluice
