// What the store tests share: a folder per test, and runs whose every field differs from its
// default.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/store/store.h"

namespace sluice {

class StoreTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path file(const std::string& name = "runs.db") const {
    return folder_ / name;
  }

  std::filesystem::path folder_;
};

[[nodiscard]] CampaignFacts example_campaign();
[[nodiscard]] LinkTraceFacts example_trace();
[[nodiscard]] ProfileFacts example_profile();
[[nodiscard]] RunMetrics example_metrics();
// `num_loads` loads of three chunks: one fetched, one recomputed, one cancelled. The second load
// failed. Values depend on `salt` and the load's index only.
[[nodiscard]] std::vector<LoadRecord> example_loads(std::int64_t num_loads, std::int64_t salt = 0);

// Adds scenario `s`, policy `policy` and a campaign; the key of one run.
[[nodiscard]] RunKey add_key(Store& store, std::int64_t replicate,
                             const std::string& policy = "seed-ratio");
// Claims and writes that run with example inputs and loads.
RunId write_example(Store& store, const RunKey& key, std::int64_t num_loads = 3,
                    std::int64_t salt = 0);

// EXPECTs that two lists of loads are equal in every field.
void expect_same(const std::vector<LoadRecord>& a, const std::vector<LoadRecord>& b);

}  // namespace sluice
