#include "sim/cli/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "analysis/score/from_store.h"
#include "analysis/score/tier_error.h"
#include "sim/cli/outcome.h"
#include "sim/serving/tier_doubts.h"

namespace sluice {
namespace {

Result<std::vector<ScoreInput>> inputs_by_tier(const Scenario& s, const Store& store) {
  std::vector<ScoreInput> inputs;
  for (const std::string& tier : s.tiers) {
    RunFilter filter;
    filter.scenario_sha256 = s.sha256;
    filter.tier = tier;
    Result<std::vector<ScoreInput>> read = read_score_inputs(
        store, filter,
        {.policies = names_of_policies(s), .seed = s.seed, .num_replicates = s.replicates});
    if (!read) return read.error();
    for (ScoreInput& input : *read) inputs.push_back(std::move(input));
  }
  return inputs;
}

ValidationRow row_of(const TierComparison& comparison, const std::vector<std::string>& doubts) {
  const TierError& error = comparison.error;
  return {.policy = comparison.policy,
          .tier = comparison.tier,
          .reference_tier = comparison.reference,
          .num_loads = error.num_loads,
          .num_unmatched = error.num_unmatched,
          .error_median = error.median,
          .error_p95 = error.p95,
          .bias = error.bias,
          .violations = error.violations,
          .reference_violations = error.reference_violations,
          .doubts = fmt::format("{}", fmt::join(doubts, "\n"))};
}

Result<std::vector<ValidationRow>> compare_and_store(const Scenario& s, Store& store) {
  const Result<std::vector<ScoreInput>> inputs = inputs_by_tier(s, store);
  if (!inputs) return inputs.error();
  std::vector<ValidationRow> rows;
  for (const TierComparison& comparison : compare_tiers(*inputs)) {
    Result<std::vector<std::string>> doubts = tier_doubts(s, comparison.tier);
    if (!doubts) return doubts.error();
    const Result<std::vector<std::string>> of_reference = tier_doubts(s, comparison.reference);
    if (!of_reference) return of_reference.error();
    doubts->insert(doubts->end(), of_reference->begin(), of_reference->end());
    rows.push_back(row_of(comparison, *doubts));
  }
  if (Status written = store.write_validation(s.sha256, s.seed, rows); !written)
    return written.error();
  return rows;
}

Table::Cell percent(const std::optional<double>& share) {
  if (!share) return {"-", ""};
  return {fmt::format("{:.2f} %", *share * 100), fmt::format("{}", *share)};
}

Table empty_table() {
  Table table;
  table.column("scenario", "scenario", Align::kLeft).column("policy", "policy", Align::kLeft);
  table.column("tier", "tier", Align::kLeft).column("reference", "against", Align::kLeft);
  table.column("loads", "loads").column("unmatched", "unmatched");
  table.column("error_median", "TTFT error p50").column("error_p95", "p95").column("bias", "bias");
  table.column("violations", "violations").column("reference_violations", "of reference");
  return table;
}

void add_row(Table& table, const Scenario& s, const ValidationRow& row) {
  table.row({s.title(), row.policy.empty() ? Table::Cell("all", "") : Table::Cell(row.policy),
             row.tier, row.reference_tier, std::to_string(row.num_loads),
             std::to_string(row.num_unmatched), percent(row.error_median), percent(row.error_p95),
             percent(row.bias), std::to_string(row.violations),
             std::to_string(row.reference_violations)});
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json json_of(const Scenario& s, const ValidationRow& row) {
  return {{"scenario", s.title()},
          {"policy", row.policy.empty() ? nlohmann::json(nullptr) : nlohmann::json(row.policy)},
          {"tier", row.tier},
          {"reference", row.reference_tier},
          {"loads", row.num_loads},
          {"unmatched", row.num_unmatched},
          {"error_median", or_null(row.error_median)},
          {"error_p95", or_null(row.error_p95)},
          {"bias", or_null(row.bias)},
          {"violations", row.violations},
          {"reference_violations", row.reference_violations},
          {"doubts", row.doubts}};
}

}  // namespace

Status validate_tiers(std::span<const Scenario> scenarios, const std::filesystem::path& file,
                      const SimOptions& options) {
  Result<Store> store = Store::open(file);
  if (!store) return store.error();
  Table table = empty_table();
  nlohmann::json json = nlohmann::json::array();
  std::set<std::string> all_doubts;
  for (const Scenario& s : scenarios) {
    const Result<std::vector<ValidationRow>> rows = compare_and_store(s, *store);
    if (!rows) return rows.error();
    for (const ValidationRow& row : *rows) {
      // Of several scenarios only the sums: each policy's row is in the store.
      if (scenarios.size() == 1 || row.policy.empty()) add_row(table, s, row);
      json.push_back(json_of(s, row));
      if (!row.policy.empty()) continue;
      std::istringstream lines(row.doubts);
      for (std::string line; std::getline(lines, line);) all_doubts.insert(s.title() + ": " + line);
    }
  }
  for (const std::string& doubt : all_doubts) table.note(doubt);
  table.note("error: |TTFT - against| / against, over loads that moved bytes and ended in both");
  print_as(options.format, table, json, std::cout);
  return {};
}

}  // namespace sluice
