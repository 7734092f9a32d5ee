#include <fmt/format.h>

#include <algorithm>

#include "analysis/report/numbers.h"
#include "analysis/report/palette.h"
#include "analysis/report/ranking.h"
#include "analysis/report/sections.h"
#include "analysis/report/ttft_chart.h"
#include "analysis/report/whisker_chart.h"
#include "analysis/score/verdict.h"
#include "base/drawing/markup.h"

namespace sluice {
namespace {

template <typename Chart>
std::string figure(const std::string& title, const Chart& chart, const std::string& caption) {
  Markup out;
  out.open("figure").leaf("h3", title);
  out.add(both_layouts([&](Layout layout) { return draw(chart, layout); }));
  return out.leaf("figcaption", caption).close().take();
}

std::string slo_words(const std::vector<Duration>& slos) {
  return slos.size() == 1 ? "the SLO of " + to_text(slos.front()) : "each load's SLO";
}

// Colours follow the rank, in every figure of the block.
std::string colour_of(const Score& score, const std::string& policy) {
  const std::vector<std::size_t> order = ranked(score);
  const auto found = std::find_if(order.begin(), order.end(), [&](std::size_t index) {
    return score.policies[index].policy == policy;
  });
  return policy_colour_class(static_cast<std::size_t>(found - order.begin()));
}

std::string pair_list(const Score& score) {
  Markup out;
  out.open("details")
      .leaf("summary", fmt::format("All {} pairs in words", score.pairs.size()))
      .open("ul");
  for (const std::string& line : verdict_lines(score)) out.leaf("li", line);
  return out.close().close().take();
}

}  // namespace

std::string violation_figure(const ReportBlock& block) {
  const Score& score = block.score;
  WhiskerChart chart{
      .description = "Share of loads that violated " + slo_words(block.slos) + ", per policy.",
      .measure = "loads that violated " + slo_words(block.slos) + ", %",
      .rows = {},
      .reference_line = {}};
  for (const std::size_t index : ranked(score)) {
    const PolicyScore& policy = score.policies[index];
    if (!policy.violation_rate) continue;
    const bool is_baseline = score.options.baseline == policy.policy;
    chart.rows.push_back(
        {.label = policy.policy,
         .value_text = violation_text(policy),
         .value = 100 * *policy.violation_rate,
         .interval = {100 * policy.violation_interval.low, 100 * policy.violation_interval.high},
         .colour_class = colour_of(score, policy.policy),
         .is_reference = is_baseline});
    if (is_baseline) chart.reference_line = 100 * *policy.violation_rate;
    chart.description += fmt::format(" {}: {}.", policy.policy, violation_text(policy));
  }
  return figure(
      "How often each policy was late", chart,
      fmt::format("Dots: violation rate; whiskers: {:g} % interval.{}",
                  100 * score.options.confidence,
                  score.options.baseline ? " Hollow dot and dotted line: the baseline." : ""));
}

std::string ttft_figure(const ReportBlock& block) {
  const Score& score = block.score;
  TtftChart chart{.description = "Cumulative distribution of the time to first token, per policy.",
                  .legend_title = "in time",
                  .curves = {},
                  .slos = block.slos};
  const std::vector<std::size_t> order = ranked(score);
  bool any_unfinished = false;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const PolicyScore& policy = score.policies[order[rank]];
    const PolicyTimes& times = block.times[order[rank]];
    const auto in_time =
        policy.violation_rate ? std::optional(1 - *policy.violation_rate) : std::nullopt;
    any_unfinished = any_unfinished || policy.unfinished > 0;
    chart.curves.push_back({.policy = policy.policy,
                            .value_text = percent_text(in_time),
                            .colour_class = policy_colour_class(rank),
                            .dash_class = policy_dash_class(rank),
                            .finished = times.finished,
                            .num_loads = times.num_loads});
    chart.description += fmt::format(" {}: median {} s, 95th percentile {} s.", policy.policy,
                                     seconds_text(policy.ttft_p50), seconds_text(policy.ttft_p95));
  }
  return figure(
      "How long until the first token", chart,
      std::string("Each curve: the share of loads whose first token came within that time.") +
          (any_unfinished ? " A curve that ends below 100 % has loads without a first token."
                          : ""));
}

std::string difference_figure(const ReportBlock& block) {
  const Score& score = block.score;
  const std::string reference = reference_policy(score);
  const std::vector<PairScore> pairs = pairs_against(score, reference);
  if (pairs.empty()) return {};
  WhiskerChart chart{.description = "Violation rate minus that of " + reference + ", per policy.",
                     .measure = "points more (right) or fewer (left) violations than the reference",
                     .rows = {},
                     .reference_line = {},
                     .band = 100 * score.options.delta};
  for (const PairScore& pair : pairs) {
    chart.rows.push_back({.label = pair.a,
                          .value_text = points_text(pair) + " " + to_text(pair.verdict),
                          .value = 100 * pair.difference,
                          .interval = {100 * pair.interval.low, 100 * pair.interval.high},
                          .colour_class = colour_of(score, pair.a)});
    chart.description += fmt::format(" {}: {} points, {}, {}.", pair.a, points_text(pair),
                                     p_text(pair.p_value_holm), to_text(pair.verdict));
  }
  const std::string caption = fmt::format(
      "The same loads under both policies; {:g} % intervals. Band: differences of at most {} do "
      "not matter. {}",
      100 * score.options.confidence, points_text(score.options.delta),
      score.options.baseline
          ? "p-values are adjusted over these pairs (Holm)."
          : "The reference is the policy that was late least often; p-values are adjusted over all "
            "pairs of policies (Holm).");
  return figure("Against " + reference, chart, caption) + pair_list(score);
}

}  // namespace sluice
