// A score as people and programs read it: the verdict table, the pairs, JSON, and plain sentences.
// Where in the flow: step 6; `sluice sim` and `sluice compare` print the same.
// Surprise: JSON names are a contract, since other programs read them;
// tests/analysis/score_verdict_test.cc holds them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/score/score.h"
#include "base/table.h"

namespace sluice {

// One row per policy: loads, violation rate with interval, TTFT, quality, level mix, MB per load,
// profile. With several scores (scenario and tier differ) CSV tells them apart by its first two
// columns.
[[nodiscard]] Table verdict_table(const std::vector<Score>& scores);
[[nodiscard]] Table verdict_table(const Score& score);

// One row per pair.
[[nodiscard]] Table pair_table(const std::vector<Score>& scores);

// "a violates 77.1 points less than b [74.0, 80.1], p < 0.001: better", one per pair.
[[nodiscard]] std::vector<std::string> verdict_lines(const Score& score);

// {"scenario", "tier", "store", "policies": [...], "pairs": [...]}; fractions in 0..1, absent
// values null.
[[nodiscard]] nlohmann::json verdict_json(const Score& score, const std::string& store);
// One score: its object. Several: {"store", "comparisons": [object, ...]}.
[[nodiscard]] nlohmann::json verdict_json(const std::vector<Score>& scores,
                                          const std::string& store);

}  // namespace sluice
