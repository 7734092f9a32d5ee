// Rows of tier_validation in and out.
#include "analysis/store/state.h"

namespace sluice {
namespace {

constexpr const char* kFindScenario = "SELECT id FROM scenario WHERE sha256 = ?1";

constexpr const char* kReplace = R"sql(
INSERT OR REPLACE INTO tier_validation (scenario_id, seed, policy, tier, reference_tier, num_loads,
  num_unmatched, error_median, error_p95, bias, violations, reference_violations, doubts)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
)sql";

constexpr const char* kSelect = R"sql(
SELECT policy, tier, reference_tier, num_loads, num_unmatched, error_median, error_p95, bias,
  violations, reference_violations, doubts
FROM tier_validation JOIN scenario ON scenario.id = scenario_id
WHERE scenario.sha256 = ?1 AND seed = ?2 ORDER BY policy, tier, reference_tier
)sql";

std::optional<double> optional_real(const Statement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.real(column));
}

}  // namespace

Status Store::write_validation(const std::string& scenario_sha256, std::uint64_t seed,
                               std::span<const ValidationRow> rows) {
  const Database& file = database();
  auto transaction = Transaction::begin(file);
  if (!transaction) return transaction.error();
  const auto scenario = file.find_integer(kFindScenario, scenario_sha256);
  if (!scenario) return scenario.error();
  if (!*scenario)
    return error_in(file.file(), "holds no scenario " + scenario_sha256, "run the scenario first");
  Statement replace = file.prepare(kReplace);
  for (const ValidationRow& row : rows) {
    const Status written = replace.run_with(
        **scenario, static_cast<std::int64_t>(seed), row.policy, row.tier, row.reference_tier,
        row.num_loads, row.num_unmatched, row.error_median, row.error_p95, row.bias, row.violations,
        row.reference_violations, row.doubts);
    if (!written) return written;
  }
  return transaction->commit();
}

Result<std::vector<ValidationRow>> Store::read_validation(const std::string& scenario_sha256,
                                                          std::uint64_t seed) const {
  std::vector<ValidationRow> rows;
  Statement select = database().prepare(kSelect);
  const Status read = select.bind(scenario_sha256, static_cast<std::int64_t>(seed)).for_each([&] {
    rows.push_back({.policy = select.text(0),
                    .tier = select.text(1),
                    .reference_tier = select.text(2),
                    .num_loads = select.integer(3),
                    .num_unmatched = select.integer(4),
                    .error_median = optional_real(select, 5),
                    .error_p95 = optional_real(select, 6),
                    .bias = optional_real(select, 7),
                    .violations = select.integer(8),
                    .reference_violations = select.integer(9),
                    .doubts = select.text(10)});
  });
  if (!read) return read.error();
  return rows;
}

}  // namespace sluice
