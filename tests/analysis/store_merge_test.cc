// Shards into one file: the same content as if made there, once, and no silent conflict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "analysis/store/check.h"
#include "analysis/store/content_hash.h"
#include "analysis/store/database.h"
#include "analysis/store/merge.h"
#include "tests/analysis/store_fixture.h"

namespace sluice {
namespace {

class StoreMergeTest : public StoreTest {
 protected:
  // A store with these replicates; `salt` changes what the loads did.
  std::filesystem::path make(const std::string& name, const std::vector<std::int64_t>& replicates,
                             std::int64_t salt = 0) {
    auto store = Store::open(file(name));
    EXPECT_TRUE(store.ok());
    for (const std::int64_t replicate : replicates)
      write_example(*store, add_key(*store, replicate), 5, salt);
    return file(name);
  }
  static std::string hash_of(const std::filesystem::path& name) {
    auto store = Store::open_to_read(name);
    EXPECT_TRUE(store.ok()) << store.error().to_line();
    const auto findings = check_store(*store);
    EXPECT_TRUE(findings.ok() && findings->empty());
    return *content_hash(*store);
  }
};

TEST_F(StoreMergeTest, TwoShardsGiveTheHashOfTheWholeAndAgainChangesNothing) {
  const std::string whole = hash_of(make("whole.db", {0, 1, 2, 3}));
  const std::array shards{make("a.db", {2, 0}), make("b.db", {1, 3, 0})};
  const auto merged = merge_stores(shards, file("all.db"));
  ASSERT_TRUE(merged.ok()) << merged.error().to_line();
  EXPECT_EQ(std::tie(merged->num_added, merged->num_known), std::make_tuple(4, 1));
  EXPECT_EQ(hash_of(file("all.db")), whole);
  const auto again = merge_stores(shards, file("all.db"));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(std::tie(again->num_added, again->num_known), std::make_tuple(0, 5));
  EXPECT_EQ(hash_of(file("all.db")), whole);
}

TEST_F(StoreMergeTest, ProvenanceTravelsWithTheRun) {
  const std::array shards{make("a.db", {2})};
  ASSERT_TRUE(merge_stores(shards, file("all.db")).ok());
  auto from = Store::open_to_read(shards[0]), into = Store::open_to_read(file("all.db"));
  const RunRow before = from->read_runs({})->at(0), after = into->read_runs({})->at(0);
  EXPECT_EQ(before.worker, after.worker);
  EXPECT_EQ(before.claimed_at, after.claimed_at);
  EXPECT_EQ(into->read_campaign(after.campaign)->command, example_campaign().command);
}

TEST_F(StoreMergeTest, OneRunWithTwoContentsIsNamedAndNothingIsWritten) {
  const std::array shards{make("a.db", {0, 1}), make("b.db", {1}, 9)};
  const auto merged = merge_stores(shards, file("all.db"));
  ASSERT_FALSE(merged.ok());
  EXPECT_THAT(
      merged.error().to_line(),
      testing::AllOf(testing::HasSubstr(
                         "run edge-fluctuating, seed-ratio:k=1, tier fluid, seed 7, replicate 1"),
                     testing::HasSubstr("a.db"), testing::HasSubstr("b.db")));
  EXPECT_FALSE(std::filesystem::exists(file("all.db")));
}

TEST_F(StoreMergeTest, AConflictWithTheTargetLeavesItAsItWas) {
  const std::array shards{make("a.db", {0, 1}, 9)};
  const std::string before = hash_of(make("all.db", {1}));
  EXPECT_FALSE(merge_stores(shards, file("all.db")).ok());
  EXPECT_EQ(hash_of(file("all.db")), before);
}

TEST_F(StoreMergeTest, AMissingSourceAndATargetAmongTheSourcesAreErrors) {
  const std::array missing{make("a.db", {0}), file("typo.db")};
  EXPECT_THAT(merge_stores(missing, file("all.db")).error().to_line(),
              testing::HasSubstr("typo.db"));
  EXPECT_FALSE(std::filesystem::exists(file("all.db")));
  const std::array itself{file("a.db")};
  EXPECT_THAT(merge_stores(itself, file("a.db")).error().to_line(),
              testing::HasSubstr("both a source and the target"));
}

TEST_F(StoreMergeTest, AClaimOfADeadWorkerInTheTargetIsReplaced) {
  const std::array shards{make("a.db", {0})};
  {
    auto store = Store::open(file("all.db"));
    ASSERT_TRUE(store.ok());
    ASSERT_EQ(*store->claim(add_key(*store, 0), *store->add_campaign(example_campaign())),
              Claim::kOurs);
    ASSERT_TRUE(store->database().execute("UPDATE run SET worker = 'gone'").ok());
  }
  const auto merged = merge_stores(shards, file("all.db"));
  ASSERT_TRUE(merged.ok()) << merged.error().to_line();
  EXPECT_EQ(hash_of(file("all.db")), hash_of(shards[0]));
}

}  // namespace
}  // namespace sluice
