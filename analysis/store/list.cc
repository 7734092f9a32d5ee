#include "analysis/store/list.h"

#include <fmt/format.h>

#include <tuple>

namespace sluice {
namespace {

// Runs that differ in the replicate only.
struct Group {
  std::string scenario, scenario_sha256, policy, tier;
  std::uint64_t seed = 0;
  std::int64_t num_done = 0, num_claimed = 0, num_loads = 0, num_violated = 0;

  [[nodiscard]] std::optional<double> violated_fraction() const {
    if (num_loads == 0) return std::nullopt;
    return static_cast<double>(num_violated) / static_cast<double>(num_loads);
  }
  [[nodiscard]] bool holds(const RunRow& run) const {
    return std::tie(scenario, scenario_sha256, tier, seed) ==
               std::tie(run.scenario, run.scenario_sha256, run.tier, run.seed) &&
           policy == policy_text(run.policy);
  }
};

std::vector<Group> group(const std::vector<RunRow>& runs) {
  std::vector<Group> groups;
  for (const RunRow& run : runs) {  // in the order of their keys: a group's runs stand together
    if (groups.empty() || !groups.back().holds(run)) {
      groups.push_back({.scenario = run.scenario,
                        .scenario_sha256 = run.scenario_sha256,
                        .policy = policy_text(run.policy),
                        .tier = run.tier,
                        .seed = run.seed});
    }
    Group& last = groups.back();
    ++(run.done ? last.num_done : last.num_claimed);
    last.num_loads += run.num_loads;
    last.num_violated += run.num_violated;
  }
  return groups;
}

}  // namespace

Result<Listing> list_groups(Store& store) {
  const auto runs = store.read_runs({.done_only = false});
  if (!runs) return runs.error();
  Listing listing{.table = {}, .json = nlohmann::json::array()};
  listing.table.column("scenario", "scenario", Align::kLeft)
      .column("scenario_sha256", "SHA-256", Align::kLeft);
  listing.table.column("policy", "policy", Align::kLeft)
      .column("tier", "tier", Align::kLeft)
      .column("seed", "seed");
  listing.table.column("num_done", "runs done")
      .column("num_claimed", "claimed")
      .column("num_loads", "loads");
  listing.table.column("num_violated", "violated").column("violated_fraction", "share");
  for (const Group& one : group(*runs)) {
    const auto fraction = one.violated_fraction();
    listing.table.row({one.scenario,
                       {one.scenario_sha256.substr(0, 8), one.scenario_sha256},
                       one.policy,
                       one.tier,
                       std::to_string(one.seed),
                       std::to_string(one.num_done),
                       std::to_string(one.num_claimed),
                       std::to_string(one.num_loads),
                       std::to_string(one.num_violated),
                       {fraction ? fmt::format("{:.2f} %", 100 * *fraction) : "-",
                        fraction ? fmt::format("{}", *fraction) : ""}});
    listing.json.push_back(
        {{"scenario", one.scenario},
         {"scenario_sha256", one.scenario_sha256},
         {"policy", one.policy},
         {"tier", one.tier},
         {"seed", one.seed},
         {"num_done", one.num_done},
         {"num_claimed", one.num_claimed},
         {"num_loads", one.num_loads},
         {"num_violated", one.num_violated},
         {"violated_fraction", fraction ? nlohmann::json(*fraction) : nlohmann::json()}});
  }
  return listing;
}

Result<Listing> list_runs(Store& store) {
  const auto runs = store.read_runs({.done_only = false});
  if (!runs) return runs.error();
  Listing listing{.table = {}, .json = nlohmann::json::array()};
  listing.table.column("run_id", "row").column("scenario", "scenario", Align::kLeft);
  listing.table.column("policy", "policy", Align::kLeft)
      .column("tier", "tier", Align::kLeft)
      .column("seed", "seed");
  listing.table.column("replicate", "replicate").column("state", "state", Align::kLeft);
  listing.table.column("num_loads", "loads").column("num_violated", "violated");
  listing.table.column("link_trace", "link trace", Align::kLeft);
  for (const RunRow& run : *runs) {
    const std::string policy = policy_text(run.policy), state = run.done ? "done" : "claimed";
    const std::string trace = run.link_trace ? run.link_trace->name : "";
    listing.table.row({{fmt::format("run:{}", run.id.value), std::to_string(run.id.value)},
                       run.scenario,
                       policy,
                       run.tier,
                       std::to_string(run.seed),
                       std::to_string(run.replicate),
                       state,
                       std::to_string(run.num_loads),
                       std::to_string(run.num_violated),
                       trace});
    listing.json.push_back({{"run_id", run.id.value},
                            {"scenario", run.scenario},
                            {"policy", policy},
                            {"tier", run.tier},
                            {"seed", run.seed},
                            {"replicate", run.replicate},
                            {"state", state},
                            {"num_loads", run.num_loads},
                            {"num_violated", run.num_violated},
                            {"link_trace", trace}});
  }
  return listing;
}

}  // namespace sluice
