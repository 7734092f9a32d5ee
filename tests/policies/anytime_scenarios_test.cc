// What the READMEs say of `anytime` on the shipped scenarios with an embedded codec, and on
// recorded 5G links of ../shared where they are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/ns3/ns3_tiers.h"
#include "sim/scenario/scenario.h"
#include "sim/serving/run.h"

namespace sluice {
namespace {
namespace fs = std::filesystem;

constexpr const char* kLowestRung = "fixed:level=sluice@embedded-0";

Scenario scenario(const std::string& name, const ScenarioOverrides& overrides = {}) {
  Result<Scenario> s = read_scenario(*find_scenario(name), overrides);
  EXPECT_TRUE(s.ok()) << s.error().to_line();
  return std::move(*s);
}

std::vector<LoadRecord> loads_of(const Scenario& s, const std::string& policy,
                                 const std::string& tier, std::int64_t replicates) {
  std::vector<LoadRecord> loads;
  for (std::int64_t r = 0; r < replicates; ++r) {
    const Result<RunOutcome> run = run_replicate(s, *parse_policy(policy), r, tier);
    EXPECT_TRUE(run.ok()) << run.error().to_line();
    loads.insert(loads.end(), run->loads.begin(), run->loads.end());
  }
  return loads;
}

std::int64_t violations(const std::vector<LoadRecord>& loads) {
  return std::count_if(loads.begin(), loads.end(), [](const auto& l) { return l.violated(); });
}

double mean_damage(const std::vector<LoadRecord>& loads) {
  double sum = 0;
  for (const LoadRecord& load : loads) sum += 1 - load.quality;
  return sum / static_cast<double>(loads.size());
}

// Returns the loads of `anytime`.
std::vector<LoadRecord> expect_late_only_with_the_lowest_rung(const Scenario& s,
                                                              const std::string& policy,
                                                              const std::string& tier,
                                                              std::int64_t replicates) {
  const auto lowest = loads_of(s, kLowestRung, tier, replicates);
  auto loads = loads_of(s, policy, tier, replicates);
  EXPECT_EQ(loads.size(), lowest.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    EXPECT_TRUE(!loads[i].violated() || lowest[i].violated())
        << s.name << " " << policy << " on " << tier << ", load " << i;
  }
  return loads;
}

TEST(AnytimeOnShippedScenarios, IsLateOnlyWhereTheLowestRungIs) {
  for (const char* name : {"edge-fluctuating-embedded", "lumos5g-walking-embedded"}) {
    const Scenario s = scenario(name);
    for (const char* policy : {"anytime", "anytime:recompute=fill"}) {
      (void)expect_late_only_with_the_lowest_rung(s, policy, "fluid", 40);
      if (ns3_available()) (void)expect_late_only_with_the_lowest_rung(s, policy, "burst", 4);
    }
  }
}

TEST(AnytimeOnShippedScenarios, DoesATenthOfTheDamageOfWhateverIsLateAsRarely) {
  for (const char* name : {"edge-fluctuating-embedded", "lumos5g-walking-embedded"}) {
    const Scenario s = scenario(name);
    const auto anytime = loads_of(s, "anytime", "fluid", 40);
    for (const PolicySpec& other : s.policies) {
      if (other.entry->id == "anytime") continue;
      const auto loads = loads_of(s, other.name(), "fluid", 40);
      EXPECT_TRUE(violations(loads) > violations(anytime) ||
                  mean_damage(loads) > 10 * mean_damage(anytime))
          << name << ": " << other.name();
    }
  }
}

TEST(AnytimeOnRecordedLinks, IsLateOnlyWhereTheLowestRungIs) {
  const fs::path links =
      fs::path(SLUICE_SOURCE_DIR) / ".." / "shared" / "data" / "links" / "lumos5g";
  if (!fs::is_directory(links)) {
    GTEST_SKIP() << "no recorded 5G links: " << links
                 << " is absent; `anytime` is tested on generated links only";
  }
  int num_files = 0;
  for (const auto& entry : fs::directory_iterator(links)) {
    ScenarioOverrides overrides;
    overrides.link_trace_file = entry.path().string();
    const Scenario s = scenario("lumos5g-walking-embedded", overrides);
    for (const char* policy : {"anytime", "anytime:recompute=fill"})
      (void)expect_late_only_with_the_lowest_rung(s, policy, "fluid", 40);
    if (ns3_available()) (void)expect_late_only_with_the_lowest_rung(s, "anytime", "burst", 2);
    ++num_files;
  }
  EXPECT_GE(num_files, 5);
}

}  // namespace
}  // namespace sluice
