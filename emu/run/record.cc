#include "emu/run/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "sim/scenario/scenario.h"
#include "traces/write.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Adds one load's window, which begins at `start`; returns where it ends.
Duration add_window(const LoadRecord& load, Duration start, std::vector<RateStep>& steps) {
  std::map<Duration, std::int64_t> changes;  // since the load arrived, bit/s
  Duration end{};
  for (const ChunkRecord& chunk : load.chunks) {
    if (!chunk.first_byte_at || !chunk.arrived_at || *chunk.arrived_at <= *chunk.first_byte_at)
      continue;
    const Duration from = *chunk.first_byte_at - load.arrived_at;
    const Duration to = *chunk.arrived_at - load.arrived_at;
    const std::int64_t rate = mean_rate(chunk.bytes, to - from).bits_per_sec();
    if (rate <= 0 || from < Duration::zero()) continue;
    changes[from] += rate;
    changes[to] -= rate;
    end = std::max(end, to);
  }
  std::int64_t now = 0;
  bool first = true;
  for (const auto& [at, change] : changes) {
    now += change;
    if (now <= 0) continue;  // a gap keeps the rate before it
    steps.push_back({start + (first ? Duration::zero() : at), DataRate::bits_per_sec(now)});
    first = false;
  }
  return start + end;
}

Duration shortest_first_byte(std::span<const LoadRecord> loads) {
  Duration shortest = Duration::max();
  for (const LoadRecord& load : loads) {
    for (const ChunkRecord& chunk : load.chunks) {
      if (chunk.requested_at && chunk.first_byte_at && *chunk.first_byte_at > *chunk.requested_at)
        shortest = std::min(shortest, Duration(*chunk.first_byte_at - *chunk.requested_at));
    }
  }
  return shortest == Duration::max() ? Duration::zero() : shortest;
}

// Neighbours of equal rate become one.
void merge_steps(std::vector<RateStep>& steps) {
  const auto same = [](const RateStep& a, const RateStep& b) { return a.rate == b.rate; };
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
}

}  // namespace

Result<ObservedLink> observe_link(std::span<const LoadRecord> loads) {
  ObservedLink observed;
  LinkTrace& trace = observed.trace;
  for (const LoadRecord& load : loads) trace.length = add_window(load, trace.length, trace.steps);
  if (trace.steps.empty())
    return error_in("--run", "the run moved no bytes", "record one whose policy fetches");
  merge_steps(trace.steps);
  trace.name = "recorded";
  trace.reader = "csv";
  trace.unit = "bit/s";
  trace.kind = TraceKind::kAchievedThroughput;
  trace.num_rows = static_cast<std::int64_t>(trace.steps.size());
  observed.one_way_delay = shortest_first_byte(loads) / 2;
  observed.shortest_context = observed.longest_context = loads.front().context_tokens;
  for (const LoadRecord& load : loads) {
    observed.shortest_context = std::min(observed.shortest_context, load.context_tokens);
    observed.longest_context = std::max(observed.longest_context, load.context_tokens);
  }
  if (Status sound = check_trace(trace); !sound) return sound.error();
  return observed;
}

namespace {

Status check_recordable(const Json& facts) {
  const auto refuse = [](const char* why) -> Status {
    return error_in("--run", why, "record a run of isolated loads over one link");
  };
  if (facts.at("workload").at("arrivals") != "isolated")
    return refuse("its loads share the link, whose throughput is not each load's own");
  const Json& topology = facts.at("topology");
  if (topology.at("cables").size() != 1 || topology.at("links").size() != 1)
    return refuse("its topology has several cables");
  if (facts.at("workload").contains("trace") || facts.at("workload").contains("sessions"))
    return refuse("its contexts are a trace's or a conversation's, which the store does not keep");
  if (topology.at("links")[0].at("capacity").dump().find("per-chunk") != std::string::npos)
    return refuse("its link is clocked by chunks, not by time");
  return {};
}

Result<std::set<std::string>> policies_of(const Store& store, const RunRow& run) {
  RunFilter filter;
  filter.scenario_sha256 = run.scenario_sha256;
  const auto runs = store.read_runs(filter);
  if (!runs) return runs.error();
  std::set<std::string> policies{policy_text(run.policy)};
  for (const RunRow& other : *runs) policies.insert(policy_text(other.policy));
  return policies;
}

std::vector<std::string> lost_of(const Json& facts, const Json& link) {
  std::vector<std::string> lost;
  if (facts.contains("measured_chunks"))
    lost.emplace_back("Sizes of the chunks that existed; the profile's take their place.");
  if (link.at("queue").at("discipline") != "drop-tail")
    lost.emplace_back("The queue's discipline; drop-tail takes its place.");
  if (link.at("jitter_ns") != 0 || link.at("loss") != 0)
    lost.emplace_back("Jitter and loss by themselves; the achieved throughput has them in it.");
  if (!facts.at("cross_traffic").at("flows").empty())
    lost.emplace_back("Cross traffic by itself; the achieved throughput has it in it.");
  if (facts.at("workload").contains("shared_prefixes") ||
      facts.at("workload").contains("prefix_cache"))
    lost.emplace_back("Shared prefixes and the prefix cache.");
  return lost;
}

std::string yaml_of(const Json& facts, const RecordOptions& options, const RunRow& run,
                    const ObservedLink& observed, const std::set<std::string>& policies) {
  const Json& link = facts.at("topology").at("links")[0];
  const Json& ladder = facts.at("ladder");
  const Json& work = facts.at("workload");
  std::string levels, rules;
  bool decode = false;
  for (const Json& level : ladder.at("levels")) {
    levels += (levels.empty() ? "" : ", ") + level.at("id").get<std::string>();
    decode = decode || !level.at("decode").is_null();
  }
  for (const std::string& policy : policies) rules += fmt::format("  - \"{}\"\n", policy);
  return fmt::format(
      "name: {}\nquestion: \"What would other policies have done on the link that {} met?\"\n"
      "seed: {}\nreplicates: 1\ntier: fluid\nlink:\n  capacity:\n    trace: trace.csv\n"
      "    reader: csv\n    offset: {}\n  delay: {}ns\n  queue: {}B\n  mtu: {}B\n"
      "transport:\n  handshake: {}\n  slow_start: false   # it is in the achieved throughput\n"
      "  count_headers: false\nmodel: {}\ncompute:\n  device: {}\n  recompute: {}\ncodec:\n"
      "  profile: {}\n  levels: [{}]\n  chunk_tokens: {}\n{}workload:\n  arrivals: isolated\n"
      "  loads: {}\n  context_tokens: {{low: {}, high: {}}}\n  query_tokens: {}\n"
      "  give_up: {}ns\nslo: {}ns\npolicies:\n{}",
      options.name, name_of(run), run.seed, run.num_loads > 1 ? "random" : "zero",
      to_ns(observed.one_way_delay), link.at("queue").at("limit_bytes").get<std::int64_t>(),
      link.at("mtu_bytes").get<std::int64_t>(), facts.at("transport").at("handshake").get<bool>(),
      facts.at("model").at("id").get<std::string>(), facts.at("device").at("id").get<std::string>(),
      facts.at("recompute").get<bool>(), ladder.at("profile").get<std::string>(), levels,
      ladder.at("chunk_tokens").get<std::int64_t>(), decode ? "" : "  decode: none\n",
      run.num_loads, observed.shortest_context, observed.longest_context,
      work.at("query_tokens").get<std::int64_t>(), work.at("give_up_ns").get<std::int64_t>(),
      facts.at("slo_ns").get<std::int64_t>(), rules);
}

std::string readme_of(const RunRow& run, const RecordOptions& options,
                      const std::vector<std::string>& lost) {
  std::string text = fmt::format(
      "# {}\n\n## Question\nWhat would other policies have done on the link that this run met: "
      "{}?\n\n## Where it came from\n`{}`\n\n## Command\n`./sluice sim {}`\n\n## Limits\n"
      "The trace is achieved payload throughput, not capacity: it is what this run's policy got, "
      "slow start and waits included, and is biased against policies that would have asked for "
      "more. Gaps keep the rate before them. The delay is half of the shortest time from a request "
      "to its first byte.\n{}\n",
      options.name, name_of(run), options.command, options.folder.string(),
      run.num_loads > 1
          ? "The windows of its loads lie one after the other; a load of this scenario begins "
            "anywhere in them."
          : "Each load begins at the trace's beginning.");
  if (!lost.empty()) text += "\nNot recovered:\n";
  for (const std::string& item : lost) text += "- " + item + "\n";
  return text;
}

// All three files in `part`, read once as `sluice sim` would.
Status write_and_check(const fs::path& part, const ObservedLink& observed, const std::string& yaml,
                       const std::string& readme) {
  if (Status done = write_traces(part / "trace.csv", "csv", {&observed.trace, 1}); !done)
    return done;
  if (Status done = write_file_atomically(part / "scenario.yaml", yaml); !done) return done;
  if (Status done = write_file_atomically(part / "README.md", readme); !done) return done;
  const auto read = read_scenario(part / "scenario.yaml", {});
  return read ? Status{} : Status{read.error()};
}

Status write_folder(const fs::path& folder, const ObservedLink& observed, const std::string& yaml,
                    const std::string& readme) {
  std::error_code code;
  if (fs::exists(folder, code))
    return error_in("--out", folder.string() + " exists", "name a folder that does not");
  fs::path part = folder;
  part += ".part";
  if (!fs::create_directory(part, code))
    return error_in("--out", part.string() + " cannot be made", "name a folder in one that exists");
  if (Status done = write_and_check(part, observed, yaml, readme); !done) {
    fs::remove_all(part, code);
    return done;
  }
  fs::rename(part, folder, code);
  if (!code) return {};
  std::error_code ignored;
  fs::remove_all(part, ignored);
  return error_in("--out", folder.string() + ": " + code.message(), "name another folder");
}

}  // namespace

Result<std::vector<std::string>> record_scenario(const Store& store, const RunRow& run,
                                                 const RecordOptions& options) {
  const auto scenario = store.read_scenario(run.scenario_sha256);
  if (!scenario) return scenario.error();
  const auto loads = store.read_records(run.id);
  if (!loads) return loads.error();
  try {
    const Json facts = Json::parse(scenario->canonical);
    if (Status able = check_recordable(facts); !able) return able.error();
    const auto observed = observe_link(*loads);
    if (!observed) return observed.error();
    const auto policies = policies_of(store, run);
    if (!policies) return policies.error();
    std::vector<std::string> lost = lost_of(facts, facts.at("topology").at("links")[0]);
    if (Status done = write_folder(options.folder, *observed,
                                   yaml_of(facts, options, run, *observed, *policies),
                                   readme_of(run, options, lost));
        !done)
      return done.error();
    return lost;
  } catch (const Json::exception& wrong) {
    return error_in("--store", std::string("its scenario cannot be read: ") + wrong.what(),
                    "use a store that this version made");
  }
}

}  // namespace sluice
