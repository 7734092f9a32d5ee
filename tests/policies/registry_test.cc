#include "policies/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/policies/observation_builder.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

TEST(PolicyRegistry, ANameWithParametersBecomesASpecWhoseNameSaysOnlyWhatDiffersFromTheDefaults) {
  EXPECT_EQ(parse_policy("fixed:level=2")->name(), "fixed:level=2");
  EXPECT_EQ(parse_policy("cachegen-published")->name(), "cachegen-published");
  EXPECT_EQ(parse_policy("cachegen-published:first=middle")->name(), "cachegen-published");
  EXPECT_EQ(parse_policy("cachegen-published:first=1,codec=x")->name(),
            "cachegen-published:codec=x,first=1");
}

TEST(PolicyRegistry, AMisspeltPolicyOrParameterNamesTheNearest) {
  EXPECT_THAT(parse_policy("cachegen-publshed").error().to_line(),
              HasSubstr("did you mean `cachegen-published`?"));
  EXPECT_THAT(parse_policy("fixed:levle=2").error().to_line(), HasSubstr("did you mean `level`?"));
}

TEST(PolicyRegistry, AMissingRepeatedOrMalformedParameterIsAnError) {
  EXPECT_THAT(parse_policy("fixed").error().to_line(), HasSubstr("needs `level`"));
  EXPECT_THAT(parse_policy("fixed:level=1,level=2").error().to_line(), HasSubstr("given twice"));
  EXPECT_THAT(parse_policy("fixed:level").error().to_line(), HasSubstr("not key=value"));
  EXPECT_THAT(parse_policy("recompute:x=1").error().to_line(), HasSubstr("no parameter `x`"));
  EXPECT_FALSE(parse_policy("").ok());
}

TEST(PolicyRegistry, ALevelIsFoundByIdOrByItsNameWhereThatIsUnique) {
  ObservationBuilder o(1);
  EXPECT_EQ(*find_level("cachegen-released@2", o.levels()), 1);
  EXPECT_EQ(*find_level("2", o.levels()), 1);
  EXPECT_THAT(find_level("cachegen-released", o.levels()).error().to_line(),
              HasSubstr("names 3 levels"));
  EXPECT_THAT(find_level("9", o.levels()).error().to_line(),
              HasSubstr("known: cachegen-released@3"));
}

TEST(PolicyRegistry, ALevelThatTheLadderDoesNotHaveIsFoundWhenThePolicyIsMade) {
  ObservationBuilder o(1);
  EXPECT_FALSE(make_policy(*parse_policy("fixed:level=9"), o.levels()).ok());
  EXPECT_FALSE(make_policy(*parse_policy("cachegen-published:first=9"), o.levels()).ok());
}

}  // namespace
}  // namespace sluice
