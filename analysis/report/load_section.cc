#include <fmt/format.h>

#include <algorithm>

#include "analysis/report/numbers.h"
#include "analysis/report/palette.h"
#include "analysis/report/ranking.h"
#include "analysis/report/sections.h"
#include "analysis/report/timeline_chart.h"
#include "base/drawing/markup.h"

namespace sluice {
namespace {

constexpr std::size_t kMaxReason = 300;

// As the policies are ranked.
std::vector<const PolicyTimeline*> in_ranked_order(const ReportBlock& block) {
  std::vector<const PolicyTimeline*> timelines;
  for (const std::size_t index : ranked(block.score)) {
    for (const PolicyTimeline& timeline : block.load->timelines) {
      if (timeline.policy_index == index) timelines.push_back(&timeline);
    }
  }
  return timelines;
}

std::size_t rank_of(const ReportBlock& block, std::size_t policy_index) {
  const std::vector<std::size_t> order = ranked(block.score);
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), policy_index) -
                                  order.begin());
}

TimelineChart chart_of(const ReportBlock& block) {
  TimelineChart chart{
      .description = "One load under each policy.", .levels = &block.levels, .panels = {}};
  for (const PolicyTimeline* timeline : in_ranked_order(block)) {
    const std::string& policy = block.score.policies[timeline->policy_index].policy;
    chart.panels.push_back(
        {.policy = policy,
         .colour_class = policy_colour_class(rank_of(block, timeline->policy_index)),
         .load = &timeline->load});
    chart.description += fmt::format(" {}: {}.", policy, outcome_text(timeline->load));
  }
  return chart;
}

void add_key(std::string_view classes, std::string_view words, Markup& out) {
  out.open("li").leaf("span", {{"class", fmt::format("key {}", classes)}}, "").text(words).close();
}

// Only the levels that this load met.
void add_legend(const ReportBlock& block, Markup& out) {
  std::vector<std::string> met;
  bool any_recomputed = false;
  for (const PolicyTimeline& timeline : block.load->timelines) {
    for (const ChunkRecord& chunk : timeline.load.chunks) {
      any_recomputed = any_recomputed || chunk.action == ChunkAction::kRecomputed;
      if (!chunk.level.empty() && std::find(met.begin(), met.end(), chunk.level) == met.end())
        met.push_back(chunk.level);
    }
  }
  std::stable_sort(met.begin(), met.end(),
                   [&](const auto& a, const auto& b) { return block.levels.before(a, b); });
  out.open("ul", {{"class", "legend"}});
  for (const std::string& level : met)
    add_key(fmt::format("transfer {}", block.levels.class_of(level)), level, out);
  if (any_recomputed) add_key(fmt::format("transfer {}", kRecomputeClass), "recompute", out);
  add_key("decode", "decode, or the pass to the first token", out);
  add_key("wait", "waiting", out);
  add_key("token", "first token", out);
  out.close();
}

// Chunks that follow each other with the same choice and the same words share a row.
struct Decision {
  const ChunkRecord* first = nullptr;
  const ChunkRecord* last = nullptr;
  std::int64_t tokens = 0;
  DataSize bytes;
};

std::vector<Decision> decisions_in(const LoadRecord& load) {
  std::vector<Decision> decisions;
  for (const ChunkRecord& chunk : load.chunks) {
    if (decisions.empty() || share_name(*decisions.back().first) != share_name(chunk) ||
        decisions.back().first->reason != chunk.reason) {
      decisions.push_back({.first = &chunk});
    }
    decisions.back().last = &chunk;
    decisions.back().tokens += chunk.tokens;
    decisions.back().bytes += chunk.bytes;
  }
  return decisions;
}

void add_decision(const ReportBlock& block, const LoadRecord& load, const Decision& decision,
                  Markup& out) {
  const auto seconds = [&](const std::optional<Instant>& t) {
    return t ? seconds_text(*t - load.arrived_at) : std::string(kAbsent);
  };
  const ChunkRecord& first = *decision.first;
  out.leaf("td", &first == decision.last ? fmt::format("{}", first.index)
                                         : fmt::format("{}–{}", first.index, decision.last->index));
  out.leaf("td", count_text(decision.tokens));
  out.open("td", {{"class", "left what"}});
  out.leaf("span",
           {{"class", fmt::format("key transfer {}", block.levels.class_of(share_name(first)))}},
           "")
      .text(share_name(first));
  out.close();
  out.leaf("td", megabytes_text(static_cast<double>(decision.bytes.bytes())));
  out.leaf("td", seconds(first.requested_at ? first.requested_at : first.compute_began_at));
  out.leaf("td", seconds(decision.last->resident_at));
  out.leaf("td", {{"class", "left reason"}}, shorten(first.reason, kMaxReason));
}

void add_decisions(const ReportBlock& block, Markup& out) {
  out.open("details", {{"open", "open"}}).leaf("summary", "What each policy decided, and why");
  out.open("div", {{"class", "scroll"}})
      .open("table", {{"class", "decisions"}})
      .open("thead")
      .open("tr");
  for (const char* title : {"Policy", "Chunks", "Tokens", "What", "MB", "Asked, s", "Resident, s",
                            "Why, in the policy’s words"}) {
    const bool is_words =
        std::string_view(title).starts_with("P") || std::string_view(title).starts_with("W");
    out.leaf("th", {{"scope", "col"}, {"class", is_words ? "left" : ""}}, title);
  }
  out.close().close().open("tbody");
  for (const PolicyTimeline* timeline : in_ranked_order(block)) {
    const std::vector<Decision> decisions = decisions_in(timeline->load);
    for (const Decision& decision : decisions) {
      const bool first = &decision == &decisions.front();
      out.open("tr", {{"class", first ? "begins" : ""}});
      if (first) {
        out.open("th", {{"scope", "rowgroup"}, {"rowspan", fmt::format("{}", decisions.size())}});
        out.name(block.score.policies[timeline->policy_index].policy).close();
      }
      add_decision(block, timeline->load, decision, out);
      out.close();
    }
  }
  out.close().close().close().close();
}

}  // namespace

std::string load_section(const ReportBlock& block, const BlockPlace& place) {
  if (!block.load || block.load->timelines.empty()) return {};
  const ShownLoad& shown = *block.load;
  const LoadRecord& load = shown.timelines.front().load;
  const TimelineChart chart = chart_of(block);
  Markup out;
  out.open("figure", {{"id", place.anchor + "-load"}}).leaf("h3", "One load under each policy");
  out.leaf(
      "p", {{"class", "caption"}},
      fmt::format("Load {} of replicate {}: a context of {} tokens in {} chunks, arrived {} s into "
                  "the run, "
                  "the same load over the "
                  "same link for each policy. {}",
                  shown.which.index, shown.which.replicate, count_text(load.context_tokens),
                  load.chunks.size(), seconds_text(load.arrived_at.time_since_epoch()),
                  shown.chosen_by_reader ? "Chosen by --load."
                                         : fmt::format("Chosen by rule: {}.", kLoadChoiceRule)));
  add_legend(block, out);
  out.add(both_layouts([&](Layout layout) { return draw(chart, layout); }));
  out.leaf("figcaption",
           "One row per chunk; a bar is a transfer from its first to its last byte. The strip "
           "below the chunks: the rate at "
           "which each transfer received its bytes, which is what the policy could see of the "
           "link, not its capacity. Rest the "
           "pointer on a bar for its times and the policy’s reason.");
  add_decisions(block, out);
  return out.close().take();
}

}  // namespace sluice
