// Long contexts of large models pass through planning without overflow.
#include <gtest/gtest.h>

#include "sim/scenario/ladder.h"
#include "sim/serving/plan.h"
#include "tests/scenario/scenario_files.h"

namespace sluice {
namespace {

TEST(LongContexts, Yi34BWith80KTokensIsPlannedWhole) {
  const std::string text = replaced(replaced(kSmallScenario, "mistral-7b\n", "yi-34b\n"),
                                    "{low: 1000, high: 4000}", "80000");
  const Result<Scenario> s = read_text(text);
  ASSERT_TRUE(s.ok()) << s.error().to_line();
  const LoadPlan plan = plan_load(*s, level_infos(s->ladder), s->policies[0], 0,
                                  {.context_tokens = 80'000, .destination = 1});
  DataSize decoded, eight_bit;
  for (const ChunkPlan& chunk : plan.chunks) {
    decoded += chunk.decoded_size;
    eight_bit += chunk.levels[0].size;
  }
  // 60 layers x 2 x 8 heads x 128 = 122 880 elements per token.
  EXPECT_EQ(decoded.bytes(), 80'000LL * 122'880 * 2);
  EXPECT_EQ(eight_bit.bytes(), 80'000LL * 122'880);
  EXPECT_EQ(plan.chunks.size(), 54u);  // 53 of 1500 and one of 500
  EXPECT_EQ(plan.chunks.back().tokens, 500);
}

TEST(LongContexts, TenMillionTokensOfA70BAreRefusedOrPlannedNeverWrapped) {
  const std::string text = replaced(replaced(kSmallScenario, "mistral-7b\n", "llama-3-70b\n"),
                                    "{low: 1000, high: 4000}", "10000000");
  const Result<Scenario> s = read_text(text);
  ASSERT_TRUE(s.ok()) << s.error().to_line();
  const LoadPlan plan = plan_load(*s, level_infos(s->ladder), s->policies[0], 0,
                                  {.context_tokens = 10'000'000, .destination = 1});
  for (const ChunkPlan& chunk : plan.chunks) {
    EXPECT_GT(chunk.levels[0].size, DataSize::zero());
    EXPECT_GT(*chunk.recompute_time, Duration::zero());
  }
  EXPECT_GT(*plan.chunks.back().recompute_time, *plan.chunks.front().recompute_time);
}

}  // namespace
}  // namespace sluice
