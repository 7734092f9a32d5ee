#include "sim/cli/notes.h"

#include <fmt/format.h>

#include "sim/serving/tier_doubts.h"

namespace sluice {

void print_trace_notes(const Scenario& s) {
  if (const auto* requests = std::get_if<ReplayedContexts>(&s.workload.contexts)) {
    for (const SkippedRows& rows : requests->source.summary().skipped)
      fmt::print(stderr, "note: {} rows of the workload skipped: {}\n", rows.count, rows.reason);
  }
  const auto* replayed = std::get_if<ReplayedTraces>(&s.topology.main_link().capacity);
  if (replayed == nullptr) return;
  const LinkTrace& first = replayed->traces.front();
  if (first.kind == TraceKind::kAchievedThroughput) {
    fmt::print(stderr,
               "note: {} holds achieved throughput; replayed as capacity it is biased low\n",
               replayed->file);
  }
  for (const LinkTrace& trace : replayed->traces) {
    if (const auto doubt = doubt_about_unit(trace)) fmt::print(stderr, "note: {}\n", *doubt);
  }
}

Status print_tier_notes(const Scenario& s) {
  for (const std::string& tier : s.tiers) {
    const Result<std::vector<std::string>> doubts = tier_doubts(s, tier);
    if (!doubts) return doubts.error();
    for (const std::string& doubt : *doubts) fmt::print(stderr, "note: {}\n", doubt);
  }
  return {};
}

void drop_unable_tiers(Scenario& s) {
  std::erase_if(s.tiers, [&](const std::string& tier) {
    const Result<std::vector<std::string>> doubts = tier_doubts(s, tier);
    if (!doubts)
      fmt::print(stderr, "note: {}: {} is left out: {}\n", s.title(), tier, doubts.error().what);
    return !doubts.ok();
  });
}

}  // namespace sluice
