// sluice emu load: real loads of a server's context, with any policy, over real sockets.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/parse.h"
#include "base/table.h"
#include "emu/cli/commands.h"
#include "emu/client/catalogue_request.h"
#include "emu/client/decode_worker.h"
#include "emu/client/plan.h"
#include "emu/client/run_load.h"
#include "emu/client/socket_network.h"

namespace sluice::cli {
namespace {

constexpr std::int32_t kMaxConnections = 64;
constexpr int kMaxThreads = 64;
constexpr std::int64_t kMaxRepeats = 1'000'000;

struct Options {
  std::string server, scenario, policy, slo, key, congestion, format = "table";
  std::string give_up = "60s", stall = "2s", memory = "8GiB";
  std::uint64_t context = 0;
  std::int64_t repeat = 1;
  std::int32_t connections = 1;
  int threads = 1;
};

// The options, read.
struct Setting {
  ServerPlace server;
  PatienceLimits patience;
  std::optional<Scenario> scenario;
  PolicySpec policy;
  std::optional<Duration> slo;
  Duration give_up{};
  DataSize memory_max;
  TableFormat format = TableFormat::kTable;
};

// One load as it is printed.
struct Outcome {
  LoadRecord record;
  std::int64_t num_verified = 0;
};

Result<Duration> read_duration(const char* option, const std::string& text) {
  Result<Duration> duration = parse_duration(text, "duration");
  if (!duration) return about(option, duration.error());
  if (*duration <= Duration::zero()) return error_in(option, "is not above zero", "give 1s, say");
  return duration;
}

Result<Setting> read_setting(const Options& options) {
  Setting setting;
  Result<ServerPlace> server = parse_server_place(options.server);
  if (!server) return server.error();
  setting.server = std::move(*server);
  setting.server.congestion = options.congestion;
  if (!options.key.empty()) {
    const auto key = read_seal_key(options.key);
    if (!key) return key.error();
    setting.server.key = *key;
  }
  if (!options.scenario.empty()) {
    const auto file = find_scenario(options.scenario);
    if (!file) return file.error();
    Result<Scenario> scenario = read_scenario(*file, {});
    if (!scenario) return scenario.error();
    setting.scenario = std::move(*scenario);
  }
  const Result<PolicySpec> policy = parse_policy(options.policy);
  if (!policy) return about("--policy", policy.error());
  setting.policy = *policy;
  if (!options.slo.empty()) {
    const auto slo = read_duration("--slo", options.slo);
    if (!slo) return slo.error();
    setting.slo = *slo;
  }
  const auto give_up = read_duration("--give-up", options.give_up);
  if (!give_up) return give_up.error();
  setting.give_up = *give_up;
  const auto stall = read_duration("--stall", options.stall);
  if (!stall) return stall.error();
  setting.patience.stall_time = *stall;
  setting.patience.give_up_time = std::max(setting.patience.give_up_time, *stall * 4);
  const auto memory = parse_size(options.memory, "memory");
  if (!memory) return about("--memory", memory.error());
  setting.memory_max = *memory;
  const auto format = parse_table_format(options.format);
  if (!format) return about("--format", format.error());
  setting.format = *format;
  return setting;
}

Result<std::vector<Outcome>> run_loads(const Options& options, const Setting& setting,
                                       std::shared_ptr<const Catalogue> catalogue) {
  RealClock clock;
  ReceivedChunks received;
  SocketNetwork network(clock, received,
                        {.server = setting.server,
                         .patience = setting.patience,
                         .catalogue = catalogue,
                         .connections_min = options.connections,
                         .transfer_max = setting.memory_max});
  DecodeWorker worker(clock, received,
                      {.catalogue = catalogue,
                       .threads = options.threads,
                       .memory = DecodedMemory::of(setting.memory_max),
                       .seal_key = setting.server.key});
  std::vector<Outcome> outcomes;
  for (std::int64_t i = 0; i < options.repeat; ++i) {
    const Result<LoadPlan> plan = plan_from_catalogue(
        *catalogue, i,
        {.scenario = setting.scenario ? &*setting.scenario : nullptr, .slo = setting.slo});
    if (!plan) return plan.error();
    Result<LoadRecord> record =
        run_load(clock, network, worker, setting.policy, *plan, setting.give_up);
    if (!record) return record.error();
    const ConnectionGroup load{static_cast<std::uint64_t>(i)};
    if (record->outcome != LoadOutcome::kCompleted && !network.last_failure().empty())
      fmt::print(stderr, "load {}: {}\n", i, network.last_failure());
    outcomes.push_back({std::move(*record), worker.num_verified(load)});
    worker.release(load);
  }
  return outcomes;
}

std::string levels_in_words(const LoadRecord& record) {
  std::map<std::string, int> counts;
  for (const ChunkRecord& chunk : record.chunks) {
    if (chunk.action == ChunkAction::kRecomputed) {
      ++counts["recomputed"];
    } else {
      ++counts[chunk.level.empty() ? "none" : chunk.level];
    }
  }
  std::string words;
  for (const auto& [level, count] : counts)
    words += fmt::format("{}{} x {}", words.empty() ? "" : ", ", count, level);
  return words;
}

std::string outcome_in_words(const LoadRecord& record) {
  switch (record.outcome) {
    case LoadOutcome::kCompleted:
      return "completed";
    case LoadOutcome::kFailed:
      return "failed: " + record.failure;
    case LoadOutcome::kUnfinished:
      return "unfinished";
  }
  return "";
}

std::string reasons_of(const LoadRecord& record) {
  std::set<std::string> reasons;
  for (const ChunkRecord& chunk : record.chunks) {
    if (chunk.reason.find("[after ") != std::string::npos)
      reasons.insert(fmt::format("chunk {}: {}", chunk.index, chunk.reason));
  }
  std::string words;
  for (const std::string& reason : reasons) words += (words.empty() ? "" : "; ") + reason;
  return words;
}

void print_outcomes(const std::vector<Outcome>& outcomes, TableFormat format) {
  Table table;
  table.column("load", "load")
      .column("ttft_ns", "TTFT, ms")
      .column("violated", "violated", Align::kLeft)
      .column("bytes", "bytes")
      .column("verified", "decodes verified")
      .column("levels", "levels", Align::kLeft)
      .column("outcome", "outcome", Align::kLeft)
      .column("failures", "failures", Align::kLeft);
  nlohmann::json json = nlohmann::json::array();
  for (const Outcome& outcome : outcomes) {
    const LoadRecord& r = outcome.record;
    const auto ttft = r.ttft();
    const std::string bytes = std::to_string(r.bytes_moved.bytes());
    table.row({std::to_string(r.index),
               {ttft ? fmt::format("{:.1f}", to_ms(*ttft)) : "-",
                ttft ? std::to_string(to_ns(*ttft)) : ""},
               r.violated() ? "yes" : "no",
               bytes,
               std::to_string(outcome.num_verified),
               levels_in_words(r),
               outcome_in_words(r),
               reasons_of(r)});
    json.push_back({{"load", r.index},
                    {"ttft_ns", ttft ? nlohmann::json(to_ns(*ttft)) : nlohmann::json()},
                    {"violated", r.violated()},
                    {"bytes", r.bytes_moved.bytes()},
                    {"verified", outcome.num_verified},
                    {"levels", levels_in_words(r)},
                    {"outcome", outcome_in_words(r)},
                    {"failures", reasons_of(r)}});
  }
  print_as(format, table, json, std::cout);
}

Result<int> load(const Options& options) {
  const Result<Setting> setting = read_setting(options);
  if (!setting) return setting.error();
  if (setting->policy.entry->clairvoyant) {
    return error_in("--policy", "sees the future, which a real link does not show",
                    "choose another; `./sluice emu validate` can give it the link's schedule");
  }
  Result<Catalogue> fetched =
      fetch_catalogue(setting->server, ContextId{options.context}, setting->patience);
  if (!fetched) return fetched.error();
  const auto catalogue = std::make_shared<const Catalogue>(std::move(*fetched));
  const auto outcomes = run_loads(options, *setting, catalogue);
  if (!outcomes) return outcomes.error();
  print_outcomes(*outcomes, setting->format);
  const bool all_completed = std::all_of(
      outcomes->begin(), outcomes->end(),
      [](const Outcome& outcome) { return outcome.record.outcome == LoadOutcome::kCompleted; });
  return all_completed ? 0 : 1;
}

void add_options(CLI::App& command, Options& options) {
  command.add_option("--server", options.server, "ADDRESS:PORT of `./sluice emu serve`")
      ->required();
  command.add_option("--context", options.context, "the context's number")->capture_default_str();
  command.add_option("--scenario", options.scenario,
                     "its damage, prefill times and SLO; without one nothing can be recomputed");
  command.add_option("--policy", options.policy, "NAME[:key=value,…]")->required();
  command.add_option("--slo", options.slo, "of each load, as in 500ms; else the scenario's");
  command.add_option("--connections", options.connections, "of each transfer, at least")
      ->check(CLI::Range(1, kMaxConnections))
      ->capture_default_str();
  command.add_option("--repeat", options.repeat, "loads, one after the other")
      ->check(CLI::Range(std::int64_t{1}, kMaxRepeats))
      ->capture_default_str();
  command.add_option("--key", options.key, "file of the key that the server holds");
  command.add_option("--congestion", options.congestion,
                     "cubic, bbr, reno; without it, the kernel's default");
  command.add_option("--threads", options.threads, "of each decode")
      ->check(CLI::Range(1, kMaxThreads))
      ->capture_default_str();
  command
      .add_option("--memory", options.memory, "for decoded tensors, and of one transfer at most")
      ->capture_default_str();
  command.add_option("--stall", options.stall, "a server silent for this long is asked anew")
      ->capture_default_str();
  command.add_option("--give-up", options.give_up, "of a load that does not end")
      ->capture_default_str();
  command.add_option("--format", options.format, "table, csv or json")->capture_default_str();
}

}  // namespace

void add_load(CLI::App& app, EmuRun& run) {
  CLI::App* command = app.add_subcommand(
      "load", "load a server's context: fetch, decode, verify; prints each TTFT");
  const auto options = std::make_shared<Options>();
  add_options(*command, *options);
  command->footer(
      "example: ./sluice emu load --server 127.0.0.1:7070 --policy fixed:level=int8@token --slo "
      "1s --repeat 3");
  command->callback([&run, options] { run = [options] { return load(*options); }; });
}

}  // namespace sluice::cli
