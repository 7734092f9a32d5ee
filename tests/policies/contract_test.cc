// What every registered policy must hold to; a new one is picked up from the table.
#include <gtest/gtest.h>

#include "base/random.h"
#include "policies/registry.h"
#include "tests/policies/observation_builder.h"

namespace sluice {
namespace {

std::string with_required_parameters(const PolicyEntry& entry) {
  std::string text = entry.id;
  for (const PolicyParameter& p : entry.parameters) {
    if (p.default_value.empty()) text += (text == entry.id ? ":" : ",") + p.name + "=2";
  }
  return text;
}

class EveryPolicy : public ::testing::TestWithParam<PolicyEntry> {};

ObservationBuilder random_observation(RandomStream& random) {
  ObservationBuilder o(1 + random.below(6));
  const std::size_t num_chunks = o.build().chunks.size();
  for (std::size_t i = 0; i < num_chunks; ++i) o.phase(i, static_cast<ChunkPhase>(random.below(4)));
  o.slo(Duration{static_cast<std::int64_t>(random.below(10'000'000'000))});
  o.now(Duration{static_cast<std::int64_t>(random.below(20'000'000'000))});
  o.foresees(DataRate::bits_per_sec(static_cast<std::int64_t>(random.below(3'000'000))));
  if (random.bernoulli(0.5))
    o.measured(DataRate::bits_per_sec(static_cast<std::int64_t>(random.below(3'000'000))));
  if (random.bernoulli(0.2)) o.recompute_time(std::nullopt);
  return o;
}

TEST_P(EveryPolicy, DecidesTheSameWayTwiceAndNamesOnlyAbsentChunksAndKnownLevels) {
  const PolicySpec spec = *parse_policy(with_required_parameters(GetParam()));
  RandomStream random(1);
  for (int n = 0; n < 1000; ++n) {
    const ObservationBuilder builder = random_observation(random);
    const Observation o = builder.build();
    auto first = make_policy(spec, o.levels);
    auto second = make_policy(spec, o.levels);
    ASSERT_TRUE(first.ok() && second.ok());
    const Decision decision = (*first)->decide(o);
    EXPECT_EQ((*second)->decide(o).reason, decision.reason);
    ASSERT_FALSE(decision.actions.empty());
    EXPECT_FALSE(decision.reason.empty());
    for (const Action& action : decision.actions) {
      if (const auto* f = std::get_if<Fetch>(&action)) {
        EXPECT_EQ(o.chunks[static_cast<std::size_t>(f->chunk)].phase, ChunkPhase::kAbsent);
        EXPECT_LT(f->level, 3);
      }
      if (const auto* r = std::get_if<Recompute>(&action)) {
        // One that is coming, too: what is there first counts.
        EXPECT_NE(o.chunks[static_cast<std::size_t>(r->chunk)].phase, ChunkPhase::kResident);
        EXPECT_FALSE(o.chunks[static_cast<std::size_t>(r->chunk)].recomputing);
        EXPECT_TRUE(o.chunks[static_cast<std::size_t>(r->chunk)].recompute_time ||
                    GetParam().id == "recompute");
      }
    }
  }
}

TEST_P(EveryPolicy, SaysWhatItIsAndWhatEachParameterMeans) {
  EXPECT_FALSE(GetParam().summary.empty());
  EXPECT_GE(GetParam().version, 1);
  for (const PolicyParameter& p : GetParam().parameters) EXPECT_FALSE(p.sentence.empty()) << p.name;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPolicy,
                         ::testing::ValuesIn(policy_registry().begin(), policy_registry().end()),
                         [](const auto& test) {
                           std::string name = test.param.id;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace sluice
