// A sound store has no findings; each broken rule is found and names the row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/store/check.h"
#include "analysis/store/database.h"
#include "tests/analysis/store_fixture.h"

namespace sluice {
namespace {

struct Damage {
  const char* name;
  const char* sql;  // done to a store with run 1 of three loads, the second failed
  const char* row;
  const char* what;
};

void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.name;
}

class StoreCheckTest : public StoreTest, public testing::WithParamInterface<Damage> {};

TEST_F(StoreTest, ASoundStoreHasNoFindings) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  write_example(*store, add_key(*store, 0));
  ASSERT_EQ(*store->claim(add_key(*store, 1), *store->add_campaign(example_campaign())),
            Claim::kOurs);
  const auto findings = check_store(*store);
  ASSERT_TRUE(findings.ok()) << findings.error().to_line();
  for (const Finding& finding : *findings) ADD_FAILURE() << finding.row << ": " << finding.what;
}

TEST_P(StoreCheckTest, ABrokenRuleIsFoundAndNamesTheRow) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  write_example(*store, add_key(*store, 0));
  ASSERT_TRUE(store->database()
                  .execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
                  .ok());
  const Status broken = store->database().execute(GetParam().sql);
  ASSERT_TRUE(broken.ok()) << broken.error().to_line();
  const auto findings = check_store(*store);
  ASSERT_TRUE(findings.ok()) << findings.error().to_line();
  EXPECT_THAT(*findings, testing::Contains(testing::AllOf(
                             testing::Field(&Finding::row, GetParam().row),
                             testing::Field(&Finding::what, testing::HasSubstr(GetParam().what)))));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, StoreCheckTest,
    testing::Values(
        Damage{"a_load_is_gone", "DELETE FROM load WHERE load_index = 2", "run:1",
               "as many loads as it says"},
        Damage{"chunks_are_no_list", "UPDATE load SET chunks = '[[' WHERE load_index = 1",
               "load:1/1", "chunks of a load are a list"},
        Damage{"a_level_is_gone", "DELETE FROM phrase WHERE words = 'raw@0'", "chunk:1/0/2",
               "are phrases"},
        Damage{"a_claimed_run_has_loads", "UPDATE run SET state = 'claimed'", "run:1",
               "not done has no loads"},
        Damage{"ready_before_arrival", "UPDATE load SET kv_ready_ns = -1 WHERE load_index = 0",
               "load:1/0", "after it arrived"},
        Damage{"first_token_before_ready",
               "UPDATE load SET first_token_ns = kv_ready_ns - 1 WHERE load_index = 0", "load:1/0",
               "first token comes after"},
        Damage{"completed_without_token",
               "UPDATE load SET first_token_ns = NULL WHERE load_index = 0", "load:1/0",
               "completed load has a first token"},
        Damage{"failed_without_words", "UPDATE load SET failure = NULL WHERE load_index = 1",
               "load:1/1", "why it failed"},
        Damage{"late_but_not_violated", "UPDATE load SET slo_ns = 249999999 WHERE load_index = 0",
               "load:1/0", "violates its SLO"},
        Damage{"a_byte_too_many",
               "UPDATE load SET bytes_moved = bytes_moved + 1 WHERE load_index = 2", "load:1/2",
               "bytes of its chunks"},
        Damage{"first_byte_before_request",
               "UPDATE load SET chunks = json_set(chunks, '$[0][8]', 0) WHERE load_index = 2",
               "chunk:1/2/0", "in that order"},
        Damage{"resident_before_decode",
               "UPDATE load SET chunks = json_set(chunks, '$[1][11]', 1) WHERE load_index = 2",
               "chunk:1/2/1", "resident after"},
        Damage{"scenario_text_changed", "UPDATE scenario SET canonical = 'x'",
               "scenario edge-fluctuating", "sha256"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace sluice
