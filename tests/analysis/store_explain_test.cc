// What explain and export say about rows, down to the command that makes them again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/store/explain.h"
#include "analysis/store/export.h"
#include "analysis/store/list.h"
#include "base/files.h"
#include "tests/analysis/store_fixture.h"

namespace sluice {
namespace {

using testing::HasSubstr;

std::string text_of(const Explanation& explanation, TableFormat format = TableFormat::kTable) {
  std::ostringstream out;
  print_as(format, explanation, out);
  return out.str();
}

TEST(RowName, IsARunALoadOrAChunk) {
  EXPECT_EQ(parse_row_name("run:12")->text(), "run:12");
  EXPECT_EQ(parse_row_name("12/3")->text(), "load:12/3");
  EXPECT_EQ(parse_row_name("chunk:12/3/5")->text(), "chunk:12/3/5");
  for (const char* wrong : {"", "run", "run:", "run:1/2", "load:1", "chunk:1/2", "1/2/3/4", "1//2",
                            "-1", "1x", "row:1", "99999999999999999999"}) {
    const auto name = parse_row_name(wrong);
    ASSERT_FALSE(name.ok()) << wrong;
    EXPECT_THAT(name.error().to_line(), HasSubstr("write run:12, load:12/3 or chunk:12/3/5"));
  }
}

TEST_F(StoreTest, ARunIsExplainedWithItsInputsBuildHostAndCommand) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  const RunId run = write_example(*store, add_key(*store, 4));
  const auto explanation = explain(*store, {.run = run});
  ASSERT_TRUE(explanation.ok()) << explanation.error().to_line();
  EXPECT_EQ(explanation->command,
            "./sluice sim edge-fluctuating --policy seed-ratio:k=1 --tier fluid --seed 7 "
            "--replicates 20 --replicate 4"
            " --link-trace 'a trace.csv' --store again.db");
  const std::string text = text_of(*explanation);
  for (const char* part :
       {"edge-fluctuating", "600 us beyond the network", "seed-ratio:k=1, version 1",
        "bw.jsonl#3 from offset 12.5 s", "achieved-throughput", "published: CacheGen, table 1",
        "commit abc with changes", "ns-3 3.37", "SQLite 3.40.1", "'edge fluctuating' --policy",
        "2025-11-29 07:06:40 UTC", "3, of which 1 violated", "12.00 %", "1.245 GB"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST_F(StoreTest, ALoadIsToldChunkByChunkInTheTimeSinceItsArrivalWithThePolicysReasons) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  const RunId run = write_example(*store, add_key(*store, 4));
  const auto load = explain(*store, {.run = run, .load = 0});
  ASSERT_TRUE(load.ok()) << load.error().to_line();
  const std::string text = text_of(*load);
  for (const char* part :
       {"200 ms, 250 ms", "completed; met its SLO", "the last rate, 2.5 Gbit/s, fits", "110.000",
        "recompute: 'cheaper'", "cancelled"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  const auto chunk = explain(*store, {.run = run, .load = 0, .chunk = 1});
  ASSERT_TRUE(chunk.ok());
  const auto json = nlohmann::json::parse(text_of(*chunk, TableFormat::kJson));
  EXPECT_EQ(json["row"], "chunk:1/0/1");
  ASSERT_EQ(json["load"]["chunks"].size(), 1u);
  EXPECT_EQ(json["load"]["chunks"][0]["resident_ns"], 190'000'011);
  EXPECT_TRUE(json["load"]["chunks"][0]["arrived_ns"].is_null());
  EXPECT_EQ(json["load"]["first_token_ns"], 250'000'000);
}

TEST_F(StoreTest, RowsThatAreNotThereAreNamed) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  const RunId run = write_example(*store, add_key(*store, 4));
  EXPECT_THAT(explain(*store, {.run = {99}}).error().to_line(), HasSubstr("has no run:99"));
  EXPECT_THAT(explain(*store, {.run = run, .load = 3}).error().to_line(),
              HasSubstr("has no load:1/3; run 1 has 3 loads"));
  EXPECT_THAT(explain(*store, {.run = run, .load = 0, .chunk = 3}).error().to_line(),
              HasSubstr("has no chunk:1/0/3; the load has 3 chunks"));
}

TEST_F(StoreTest, ExportWritesEveryRowWithUnitsInTheColumnNames) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  write_example(*store, add_key(*store, 4), 2);
  ASSERT_TRUE(export_csv(*store, folder_ / "csv").ok());
  EXPECT_THAT(*read_file(folder_ / "csv" / "runs.csv"),
              HasSubstr(",seed-ratio,1,k=1,fluid,7,4,bw.jsonl#3," + std::string(64, 'a') +
                        ",12500000000,"));
  EXPECT_EQ(
      *read_file(folder_ / "csv" / "loads.csv"),
      "run_id,load_index,arrived_ns,slo_ns,context_tokens,outcome,failure,kv_ready_ns,first_token_"
      "ns,ttft_ns,"
      "violated,bytes_moved,recomputed_tokens,quality_fraction,peak_memory_bytes,num_chunks\n"
      "1,0,0,1000000000,2201,completed,,200000000,250000000,250000000,0,28000002817,700,0.99,"
      "30000000000,3\n"
      "1,1,1,1000000000,2201,failed,the link went down,,,,1,28000002818,700,0.99,30000000000,3\n");
  EXPECT_THAT(
      *read_file(folder_ / "csv" / "chunks.csv"),
      HasSubstr(
          "1,0,0,1500,fetched,cachegen-released@2,28000000000,0.0125,"
          "\"the last rate, 2.5 Gbit/s, fits\",1000,20001000,110000007,110000008,130000009\n"));
  ASSERT_TRUE(write_file_atomically(folder_ / "taken", "x").ok());
  EXPECT_FALSE(export_csv(*store, folder_ / "taken").ok());
}

TEST_F(StoreTest, TheListCountsRunsLoadsAndViolationsPerPolicy) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  write_example(*store, add_key(*store, 0), 4);
  write_example(*store, add_key(*store, 1), 4);
  ASSERT_EQ(*store->claim(add_key(*store, 2), *store->add_campaign(example_campaign())),
            Claim::kOurs);
  write_example(*store, add_key(*store, 0, "fixed"), 2);
  const auto groups = list_groups(*store);
  ASSERT_TRUE(groups.ok());
  ASSERT_EQ(groups->json.size(), 2u);
  const auto& seed_ratio = groups->json[1];
  EXPECT_EQ(seed_ratio["policy"], "seed-ratio:k=1");
  EXPECT_EQ(seed_ratio["num_done"], 2);
  EXPECT_EQ(seed_ratio["num_claimed"], 1);
  EXPECT_EQ(seed_ratio["num_loads"], 8);
  EXPECT_EQ(seed_ratio["num_violated"], 2);
  EXPECT_EQ(seed_ratio["violated_fraction"], 0.25);
  EXPECT_EQ(list_runs(*store)->json.size(), 4u);
}

}  // namespace
}  // namespace sluice
