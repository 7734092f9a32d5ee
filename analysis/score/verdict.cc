#include "analysis/score/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr const char* kAbsent = "—";

// A share of one as printed percent, without the sign.
double percent(double fraction) {
  return 100 * fraction;
}

// For people at one precision, for CSV in full; absent is a dash and an empty field.
Table::Cell number(std::optional<double> value, int decimals, const char* unit = "") {
  if (!value) return {kAbsent, ""};
  return {fmt::format("{:.{}f}{}", *value, decimals, unit), fmt::format("{}", *value)};
}

Table::Cell seconds(std::optional<Duration> time) {
  return number(time ? std::optional(to_seconds(*time)) : std::nullopt, 3);
}

std::string rate_with_interval(const PolicyScore& policy) {
  if (!policy.violation_rate) return kAbsent;
  return fmt::format("{:.1f} % [{:.1f}, {:.1f}]", percent(*policy.violation_rate),
                     percent(policy.violation_interval.low),
                     percent(policy.violation_interval.high));
}

// "36 %"; never "100 %" beside other shares.
std::string share_text(double fraction) {
  return fraction < 0.995 ? fmt::format("{:.0f} %", percent(fraction)) : std::string(">99 %");
}

// Largest share first; those below half a percent only in the raw value.
Table::Cell level_mix(const PolicyScore& policy) {
  std::vector<std::pair<std::string, double>> levels(policy.level_fractions.begin(),
                                                     policy.level_fractions.end());
  std::stable_sort(levels.begin(), levels.end(),
                   [](const auto& x, const auto& y) { return x.second > y.second; });
  std::vector<std::string> shown, raw;
  for (const auto& [level, fraction] : levels) {
    if (levels.size() == 1) {
      shown.push_back(level);
    } else if (fraction >= 0.005) {
      shown.push_back(fmt::format("{} {}", level, share_text(fraction)));
    }
    raw.push_back(fmt::format("{}={}", level, fraction));
  }
  if (levels.empty()) return {kAbsent, ""};
  return {fmt::format("{}", fmt::join(shown, ", ")), fmt::format("{}", fmt::join(raw, ";"))};
}

std::optional<double> megabytes(std::optional<double> bytes) {
  if (!bytes) return std::nullopt;
  return DataSize::bytes(std::llround(*bytes)).megabytes();
}

// What tells several scores apart.
void add_score_columns(bool several, Table& table) {
  table.column("scenario", several ? "scenario" : "", Align::kLeft)
      .column("scenario_sha256", "")
      .column("tier", several ? "tier" : "", Align::kLeft)
      .column("seed", several ? "seed" : "");
}
std::vector<Table::Cell> score_cells(const Score& score) {
  return {score.scenario, score.scenario_sha256, score.tier, fmt::format("{}", score.seed)};
}
void add_row(const Score& score, std::vector<Table::Cell> cells, Table& table) {
  std::vector<Table::Cell> row = score_cells(score);
  row.insert(row.end(), std::make_move_iterator(cells.begin()),
             std::make_move_iterator(cells.end()));
  table.row(std::move(row));
}

// Profiles are long and mostly the same: a number in the row, the text once below the table.
class ProfileNotes {
 public:
  [[nodiscard]] Table::Cell cell(const std::string& profile) {
    auto found = std::find(texts_.begin(), texts_.end(), profile);
    if (found == texts_.end()) found = texts_.insert(texts_.end(), profile);
    return {fmt::format("[{}]", found - texts_.begin() + 1), profile};
  }
  void add_to(Table& table) const {
    for (std::size_t i = 0; i < texts_.size(); ++i)
      table.note(fmt::format("[{}] {}", i + 1, texts_[i]));
  }

 private:
  std::vector<std::string> texts_;
};

void add_policy_row(const Score& score, const PolicyScore& policy, ProfileNotes& notes,
                    Table& table) {
  const Interval interval = policy.violation_interval;
  add_row(score,
          {policy.policy,
           fmt::format("{}", policy.loads),
           {rate_with_interval(policy), ""},
           fmt::format("{}", policy.violations),
           number(policy.violation_rate, 4),
           number(interval.low, 4),
           number(interval.high, 4),
           to_text(policy.interval_method),
           seconds(policy.ttft_p50),
           seconds(policy.ttft_p95),
           number(policy.quality_mean, 4),
           number(megabytes(policy.bytes_per_load_mean), 1),
           number(policy.bytes_per_load_mean, 0),
           number(policy.recomputed_fraction, 4),
           number(policy.gpu_busy_fraction, 4),
           number(policy.link_utilisation, 4),
           notes.cell(policy.profile),
           level_mix(policy)},
          table);
}

std::string signed_difference(const PairScore& pair) {
  // Adding zero turns -0 into 0.
  return fmt::format("{:+.1f} [{:+.1f}, {:+.1f}]", percent(pair.difference) + 0.0,
                     percent(pair.interval.low) + 0.0, percent(pair.interval.high) + 0.0);
}

// "p < 0.001" or "p = 0.021".
std::string p_text(double p) {
  return p < 0.001 ? "p < 0.001" : fmt::format("p = {:.3f}", p);
}

// The difference as points more or less, its interval turned the same way.
std::string difference_text(const PairScore& pair) {
  const bool less = pair.difference < 0;
  const double sign = less ? -1 : 1;
  const double low = sign * (less ? pair.interval.high : pair.interval.low);
  const double high = sign * (less ? pair.interval.low : pair.interval.high);
  const std::string interval =
      fmt::format("[{:.1f}, {:.1f}]", percent(low) + 0.0, percent(high) + 0.0);
  if (pair.difference == 0) return fmt::format("violates as often as {} {}", pair.b, interval);
  return fmt::format("violates {:.1f} points {} than {} {}", percent(std::abs(pair.difference)),
                     less ? "less" : "more", pair.b, interval);
}

}  // namespace

Table verdict_table(const std::vector<Score>& scores) {
  Table table;
  add_score_columns(scores.size() > 1, table);
  table.column("policy", "policy", Align::kLeft)
      .column("loads", "loads")
      .column("", "SLO violated [95 %]")
      .column("violations", "")
      .column("violation_rate", "")
      .column("violation_rate_low", "")
      .column("violation_rate_high", "")
      .column("interval_method", "")
      .column("ttft_s_p50", "TTFT p50, s")
      .column("ttft_s_p95", "p95, s")
      .column("quality_mean", "quality")
      .column("", "MB/load")
      .column("bytes_per_load_mean", "")
      .column("recomputed_fraction", "")
      .column("gpu_busy_fraction", "")
      .column("link_utilisation", "")
      .column("profile", "profile")
      .column("levels", "level mix (tokens)", Align::kLeft);
  ProfileNotes notes;
  for (const Score& score : scores) {
    for (const PolicyScore& policy : score.policies) add_policy_row(score, policy, notes, table);
  }
  notes.add_to(table);
  return table;
}

Table verdict_table(const Score& score) {
  return verdict_table(std::vector<Score>{score});
}

Table pair_table(const std::vector<Score>& scores) {
  Table table;
  add_score_columns(scores.size() > 1, table);
  table.column("a", "policy", Align::kLeft)
      .column("b", "against", Align::kLeft)
      .column("", "points [95 %]")
      .column("difference", "")
      .column("low", "")
      .column("high", "")
      .column("interval_method", "")
      .column("only_a_violates", "it alone")
      .column("only_b_violates", "other alone")
      .column("p_value", "p (McNemar)")
      .column("p_value_clustered", "p (windows)")
      .column("p_value_holm", "p (Holm)")
      .column("verdict", "verdict", Align::kLeft);
  for (const Score& score : scores) {
    for (const PairScore& pair : score.pairs) {
      add_row(score,
              {pair.a,
               pair.b,
               {signed_difference(pair), ""},
               number(pair.difference, 4),
               number(pair.interval.low, 4),
               number(pair.interval.high, 4),
               to_text(pair.interval_method),
               fmt::format("{}", pair.counts.only_a),
               fmt::format("{}", pair.counts.only_b),
               number(pair.p_value, 3),
               number(pair.p_value_clustered, 3),
               number(pair.p_value_holm, 3),
               to_text(pair.verdict)},
              table);
    }
  }
  return table;
}

std::vector<std::string> verdict_lines(const Score& score) {
  const double points = percent(score.options.delta);
  const std::string within = fmt::format(" within {:g} point{}", points, points == 1 ? "" : "s");
  std::vector<std::string> lines;
  for (const PairScore& pair : score.pairs) {
    lines.push_back(fmt::format("{} {}, {}: {}{}", pair.a, difference_text(pair),
                                p_text(pair.p_value_holm), to_text(pair.verdict),
                                pair.verdict == Verdict::kEquivalent ? within : ""));
  }
  return lines;
}

}  // namespace sluice
