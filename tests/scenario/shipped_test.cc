// Every shipped scenario and each of its variants reads, and one replicate of each of its policies
// completes in the fluid tier; each says in its README what it asks and how it is run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "sim/scenario/scenario.h"
#include "sim/serving/run.h"

namespace sluice {
namespace {
namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(ShippedScenarios, AreAtLeastTwentyEightUnderDifferentNames) {
  const auto files = shipped_scenarios();
  ASSERT_TRUE(files.ok());
  EXPECT_GE(files->size(), 28u);
}

TEST(ShippedScenarios, AskAQuestionAndNameTheirCommandInTheirReadme) {
  const auto files = shipped_scenarios();
  ASSERT_TRUE(files.ok());
  const std::string table = text_of(files->front().parent_path().parent_path() / "README.md");
  for (const fs::path& file : *files) {
    const std::string name = file.parent_path().filename().string();
    const std::string readme = text_of(file.parent_path() / "README.md");
    EXPECT_THAT(readme, testing::StartsWith("# " + name + "\n"));
    EXPECT_THAT(readme, testing::HasSubstr("`./sluice sim " + name)) << name;
    EXPECT_THAT(table, testing::HasSubstr("| `" + name + "` |")) << "scenarios/README.md";
  }
}

void run_every_policy_once(const Scenario& s) {
  EXPECT_GE(s.policies.size(), 2u);
  for (const PolicySpec& policy : s.policies) {
    const Result<RunOutcome> run = run_replicate(s, policy, 0, "fluid");
    ASSERT_TRUE(run.ok()) << s.title() << " " << policy.name() << ": " << run.error().to_line();
    for (const LoadRecord& load : run->loads)
      EXPECT_EQ(load.failure, "") << s.title() << " " << policy.name();
  }
}

TEST(ShippedScenarios, ReadAndRunOneReplicateOfEveryPolicyInTheFluidTier) {
  const auto files = shipped_scenarios();
  ASSERT_TRUE(files.ok());
  for (const fs::path& file : *files) {
    const Result<std::vector<Scenario>> variants = read_scenarios(file, {});
    ASSERT_TRUE(variants.ok()) << variants.error().to_line();
    for (const Scenario& s : *variants) {
      EXPECT_EQ(s.name, file.parent_path().filename().string());
      run_every_policy_once(s);
    }
  }
}

}  // namespace
}  // namespace sluice
