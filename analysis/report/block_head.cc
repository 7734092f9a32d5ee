#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "analysis/report/numbers.h"
#include "analysis/report/ranking.h"
#include "analysis/report/sections.h"
#include "base/drawing/markup.h"

namespace sluice {
namespace {

constexpr std::size_t kMaxNames = 3;

void add_fact(Markup& out, std::string_view name, std::string_view value) {
  out.leaf("dt", name).leaf("dd", value);
}

// "a, b, c and 17 more".
std::string some_of(const std::set<std::string>& names) {
  std::vector<std::string> shown(names.begin(), names.end());
  const std::size_t hidden = shown.size() > kMaxNames ? shown.size() - kMaxNames : 0;
  shown.resize(shown.size() - hidden);
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     hidden > 0 ? fmt::format(" and {} more", hidden) : "");
}

std::string loads_text(const ReportBlock& block) {
  const PolicyScore& policy = block.score.policies.front();
  return fmt::format(
      "{} per policy, the same for each; {} replicate{}, {} independent trace window{}",
      count_text(policy.loads), block.runs.front().size(),
      block.runs.front().size() == 1 ? "" : "s", policy.clusters, policy.clusters == 1 ? "" : "s");
}

std::string slo_text(const std::vector<Duration>& slos) {
  std::set<std::string> texts;
  for (const Duration slo : slos) texts.insert(to_text(slo));
  return texts.empty() ? kAbsent : "time to first token at most " + some_of(texts);
}

void add_profiles(const ReportBlock& block, Markup& out) {
  std::set<std::string> lines;
  for (const auto& runs : block.runs) {
    for (const RunRow& run : runs) {
      for (const ProfileFacts& p : run.profiles) {
        std::string line =
            fmt::format("{}: {}", p.name, p.source.empty() ? "source not given" : p.source);
        if (!p.model.empty())
          line += fmt::format("; on {}{}{}", p.model, p.device.empty() ? "" : ", ", p.device);
        lines.insert(std::move(line));
      }
    }
  }
  out.leaf("dt", "Profiles");
  if (lines.empty()) lines.insert("none recorded");
  for (const std::string& line : lines) out.leaf("dd", line);
}

void add_link(const ReportBlock& block, Markup& out) {
  std::set<std::string> names, kinds;
  for (const auto& runs : block.runs) {
    for (const RunRow& run : runs) {
      if (!run.link_trace) continue;
      names.insert(run.link_trace->name);
      if (run.link_trace->kind == TraceKind::kAchievedThroughput) {
        kinds.insert("; achieved throughput replayed as capacity, which is biased");
      }
    }
  }
  if (names.empty()) return;
  add_fact(out, "Link", some_of(names) + (kinds.empty() ? "" : *kinds.begin()));
}

void add_builds(const ReportBlock& block, Markup& out) {
  std::set<std::string> builds, commands;
  for (const CampaignFacts& campaign : block.campaigns) {
    const BuildFacts& build = campaign.build;
    builds.insert(fmt::format(
        "{}{}, {}{}",
        build.commit.empty() ? "not from a checkout" : "commit " + build.commit.substr(0, 12),
        build.dirty ? " with changes that no commit holds" : "", build.compiler,
        build.ns3_version.empty() ? "" : ", ns-3 " + build.ns3_version));
    commands.insert(command_text(campaign.command));
  }
  add_fact(out, "Build", some_of(builds));
  out.leaf("dt", "Made by");
  for (const std::string& command : commands) {
    out.open("dd").leaf("code", command).close();
  }
}

void add_names(const std::vector<std::string>& names, Markup& out) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out.text(i + 1 == names.size() ? " and " : ", ");
    out.leaf("code", names[i]);
  }
}

void add_extremes(const ReportBlock& block, Markup& out) {
  const Score& score = block.score;
  const std::vector<std::size_t> order = ranked(score);
  const PolicyScore& least = score.policies[order.front()];
  if (!least.violation_rate) {
    out.text("No loads: nothing can be said.");
    return;
  }
  std::size_t last = order.size() - 1;
  while (!score.policies[order[last]].violation_rate) --last;
  const PolicyScore& most = score.policies[order[last]];
  out.leaf("code", least.policy);
  if (last == 0) {
    out.text(fmt::format(" missed its target in {} of {} loads: ", count_text(least.violations),
                         count_text(least.loads)));
    out.leaf("strong", violation_text(least)).text(". It is the only policy here.");
    return;
  }
  out.text(fmt::format(" missed the target least often, in {} of {} loads: ",
                       count_text(least.violations), count_text(least.loads)));
  out.leaf("strong", violation_text(least)).text("; ");
  out.leaf("code", most.policy)
      .text(" most often: ")
      .leaf("strong", violation_text(most))
      .text(".");
}

void add_verdicts(const Score& score, Markup& out) {
  const std::string reference = reference_policy(score);
  const std::vector<PairScore> pairs = pairs_against(score, reference);
  if (pairs.empty()) return;
  out.text(" Against ").leaf("code", reference).text(": ");
  const char* separator = "";
  for (const Verdict verdict :
       {Verdict::kBetter, Verdict::kEquivalent, Verdict::kUndecided, Verdict::kWorse}) {
    std::vector<std::string> names;
    for (const PairScore& pair : pairs) {
      if (pair.verdict == verdict) names.push_back(pair.a);
    }
    if (names.empty()) continue;
    out.text(separator);
    out.leaf("strong", to_text(verdict));
    if (verdict == Verdict::kEquivalent) out.text(" within " + points_text(score.options.delta));
    out.text(": ");
    add_names(names, out);
    separator = "; ";
  }
  out.text(".");
}

}  // namespace

std::string head_section(const ReportBlock& block) {
  const Score& score = block.score;
  Markup out;
  out.open("header");
  out.open("h2")
      .text(score.scenario)
      .leaf("span", {{"class", "tier"}}, " on tier " + score.tier)
      .close();
  if (!block.scenario.question.empty())
    out.leaf("p", {{"class", "question"}}, block.scenario.question);
  out.open("p", {{"class", "verdict"}});
  add_extremes(block, out);
  add_verdicts(score, out);
  out.close();
  for (const std::string& note : score.notes)
    out.leaf("p", {{"class", "note"}}, "Note: " + note + ".");
  out.open("dl");
  add_fact(out, "SLO", slo_text(block.slos));
  add_fact(out, "Loads", loads_text(block));
  add_fact(out, "Seed", fmt::format("{}", score.seed));
  add_link(block, out);
  add_profiles(block, out);
  add_builds(block, out);
  return out.close().close().take();
}

}  // namespace sluice
