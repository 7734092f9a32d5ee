#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/report/numbers.h"
#include "analysis/report/palette.h"
#include "analysis/report/ranking.h"
#include "analysis/report/sections.h"
#include "base/drawing/canvas.h"
#include "base/drawing/markup.h"

namespace sluice {
namespace {

constexpr double kMixWidth = 110, kMixHeight = 10;
constexpr double kMentionFrom = 0.005;  // smaller shares round to 0 %

std::vector<std::pair<std::string, double>> ordered_mix(const PolicyScore& policy,
                                                        const LevelScheme& levels) {
  std::vector<std::pair<std::string, double>> mix(policy.level_fractions.begin(),
                                                  policy.level_fractions.end());
  std::stable_sort(mix.begin(), mix.end(),
                   [&](const auto& a, const auto& b) { return levels.before(a.first, b.first); });
  return mix;
}

void add_mix(const PolicyScore& policy, const LevelScheme& levels, Markup& out) {
  const auto mix = ordered_mix(policy, levels);
  if (mix.empty()) {
    out.text(kAbsent);
    return;
  }
  std::vector<std::string> words;
  for (const auto& [level, fraction] : mix) {
    if (fraction < kMentionFrom) continue;
    words.push_back(mix.size() == 1 ? level : fmt::format("{} {:.0f} %", level, 100 * fraction));
  }
  out.open("svg", {{"class", "mix"},
                   {"viewBox", fmt::format("0 0 {} {}", kMixWidth, kMixHeight)},
                   {"role", "img"},
                   {"aria-label", fmt::format("level mix: {}", fmt::join(words, ", "))}});
  double x = 0;
  for (const auto& [level, fraction] : mix) {
    const double width = fraction * kMixWidth;
    out.open("rect", {{"class", "transfer " + levels.class_of(level)},
                      {"x", position_text(x)},
                      {"y", "0"},
                      {"width", position_text(width)},
                      {"height", position_text(kMixHeight)}});
    out.leaf("title", fmt::format("{}: {:.1f} %", level, 100 * fraction)).close();
    x += width;
  }
  out.close();
  for (const std::string& of_level : words) out.leaf("span", {{"class", "words"}}, of_level);
}

struct Column {
  const char* title;
  const char* unit;
  std::string (*text)(const PolicyScore&);
};

// After the violation rate; the level mix follows the quality.
const Column kColumns[] = {
    {"TTFT p50", "s", [](const PolicyScore& p) { return seconds_text(p.ttft_p50); }},
    {"TTFT p95", "s", [](const PolicyScore& p) { return seconds_text(p.ttft_p95); }},
    {"Quality", "mean", [](const PolicyScore& p) { return quality_text(p.quality_mean); }},
    {"Moved", "MB/load",
     [](const PolicyScore& p) { return megabytes_text(p.bytes_per_load_mean); }},
    {"Recomp.", "of tokens",
     [](const PolicyScore& p) { return percent_text(p.recomputed_fraction); }},
    {"GPU busy", "of time", [](const PolicyScore& p) { return percent_text(p.gpu_busy_fraction); }},
    {"Link used", "of capacity",
     [](const PolicyScore& p) { return percent_text(p.link_utilisation); }},
    {"Stored", "per context", [](const PolicyScore& p) { return size_text(p.stored_per_context); }},
    {"Memory", "peak", [](const PolicyScore& p) { return size_text(p.peak_memory); }},
};

void add_heading(std::string_view title, std::string_view unit, std::string_view classes,
                 Markup& out) {
  out.open("th", {{"scope", "col"}, {"class", std::string(classes)}});
  out.text(title);
  if (!unit.empty()) out.text(" ").leaf("span", {{"class", "unit"}}, unit);
  out.close();
}

void add_row(const ReportBlock& block, const PolicyScore& policy, std::size_t rank, Markup& out) {
  out.open("tr");
  out.open("th", {{"scope", "row"}});
  out.leaf("span", {{"class", "key " + policy_colour_class(rank)}}, "").name(policy.policy);
  if (block.score.options.baseline == policy.policy)
    out.text(" ").leaf("span", {{"class", "unit"}}, "baseline");
  out.close();
  out.open("td").text(percent_text(policy.violation_rate));
  if (policy.violation_rate)
    out.text(" ").leaf("span", {{"class", "unit below"}}, interval_text(policy.violation_interval));
  out.close();
  for (const Column& column : kColumns) out.leaf("td", column.text(policy));
  out.open("td", {{"class", "mix"}});
  add_mix(policy, block.levels, out);
  out.close().close();
}

}  // namespace

std::string policy_table_section(const ReportBlock& block) {
  Markup out;
  out.open("section").leaf("h3", "What each policy did");
  out.open("div", {{"class", "scroll"}}).open("table", {{"class", "policies"}});
  out.open("thead").open("tr");
  add_heading("Policy", "", "left", out);
  add_heading("SLO violated", fmt::format("{:g} % interval", 100 * block.score.options.confidence),
              "", out);
  for (const Column& column : kColumns) add_heading(column.title, column.unit, "", out);
  add_heading("Level mix", "of tokens", "left", out);
  out.close().close().open("tbody");
  const std::vector<std::size_t> order = ranked(block.score);
  for (std::size_t rank = 0; rank < order.size(); ++rank)
    add_row(block, block.score.policies[order[rank]], rank, out);
  out.close().close().close();
  out.leaf("p", {{"class", "caption"}},
           "A load that never finished or failed counts as a violation. Intervals are the wider of "
           "Wilson's and a bootstrap "
           "over trace windows. TTFT p50 and p95 count loads without a first token as infinitely "
           "late. Quality is 1 − damage "
           "by the profile's measure, weighted by tokens; stored: all versions of one context that "
           "are kept; memory: encoded "
           "and decoded bytes held at once.");
  return out.close().take();
}

}  // namespace sluice
