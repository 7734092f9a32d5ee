#include "analysis/store/explain.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "analysis/store/codes.h"
#include "analysis/store/database.h"

namespace sluice {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

Error no_such_row_name(std::string_view text) {
  return error_in("ROW", fmt::format("`{}` is not a row", text),
                  "write run:12, load:12/3 or chunk:12/3/5 (run id, load index, chunk index)");
}

std::string utc(WallTime at) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                     std::chrono::time_point_cast<std::chrono::seconds>(at));
}

// A word as a POSIX shell reads it back.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

// "lmcache-rtt [link.delay=10ms]": what stands in the brackets (Scenario::title).
std::string variant_in(const std::string& scenario) {
  const std::size_t open = scenario.find(" [");
  if (open == std::string::npos || scenario.back() != ']') return {};
  return scenario.substr(open + 2, scenario.size() - open - 3);
}

std::string command_for(const RunRow& run, const CampaignFacts& campaign) {
  std::vector<std::string> words{"./sluice",
                                 "sim",
                                 campaign.scenario_argument,
                                 "--policy",
                                 policy_text(run.policy),
                                 "--tier",
                                 run.tier,
                                 "--seed",
                                 std::to_string(run.seed),
                                 "--replicates",
                                 std::to_string(campaign.num_replicates),
                                 "--replicate",
                                 std::to_string(run.replicate)};
  if (const std::string variant = variant_in(run.scenario); !variant.empty())
    words.insert(words.end(), {"--variant", variant});
  if (campaign.link_trace_file)
    words.insert(words.end(), {"--link-trace", *campaign.link_trace_file});
  words.insert(words.end(), {"--store", "again.db"});
  return shell_line(words);
}

// Of `store.request_time`; nothing where the scenario has none.
std::optional<Duration> request_time_in(const std::string& canonical) {
  const auto json = nlohmann::json::parse(canonical, nullptr, false);
  const auto field = json.is_object() ? json.find("request_time_ns") : json.end();
  if (field == json.end() || !field->is_number_integer()) return std::nullopt;
  return nanoseconds(field->get<std::int64_t>());
}

void add_inputs(const RunRow& run, const std::string& canonical, Facts& facts) {
  facts.emplace_back("scenario", fmt::format("{}, SHA-256 of its canonical text {}", run.scenario,
                                             run.scenario_sha256));
  if (const auto time = request_time_in(canonical)) {
    facts.emplace_back("request time",
                       fmt::format("{} beyond the network, of store and client", to_text(*time)));
  }
  facts.emplace_back("policy",
                     fmt::format("{}, version {}", policy_text(run.policy), run.policy.version));
  facts.emplace_back("tier", run.tier);
  facts.emplace_back("seed, replicate", fmt::format("{}, {}", run.seed, run.replicate));
  if (run.link_trace) {
    const LinkTraceFacts& trace = *run.link_trace;
    facts.emplace_back(
        "link trace",
        fmt::format("{} from offset {}; reader {}, unit {}, {}, {} rows ({} skipped), SHA-256 {}",
                    trace.name, to_text(run.link_trace_offset), trace.reader, trace.unit,
                    to_text(trace.kind), trace.num_rows, trace.num_skipped, trace.sha256));
  }
  for (const ProfileFacts& profile : run.profiles) {
    facts.emplace_back("profile",
                       fmt::format("{} for {} on {}; {}; SHA-256 {}", profile.name, profile.model,
                                   profile.device, profile.source, profile.sha256));
  }
}

void add_provenance(const RunRow& run, const CampaignFacts& campaign, Facts& facts) {
  const BuildFacts& build = campaign.build;
  facts.emplace_back(
      "build", fmt::format("commit {}{}; {} {}; ns-3 {}; SQLite {}",
                           build.commit.empty() ? "unknown" : build.commit,
                           build.dirty ? " with changes that no commit holds" : "", build.compiler,
                           build.flags, build.ns3_version.empty() ? "absent" : build.ns3_version,
                           build.sqlite_version));
  facts.emplace_back("host",
                     fmt::format("{}, {}, {} × {}", campaign.host.name, campaign.host.system,
                                 campaign.host.num_cpus, campaign.host.cpu));
  facts.emplace_back("made by", fmt::format("{} (begun {})", shell_line(campaign.command),
                                            utc(campaign.started_at)));
  facts.emplace_back("worker", fmt::format("{}, claimed {}", run.worker, utc(run.claimed_at)));
}

void add_result(const RunRow& run, Facts& facts) {
  if (!run.done) {
    facts.emplace_back("state", "claimed, not done");
    return;
  }
  const RunMetrics& metrics = run.metrics;
  facts.emplace_back(
      "loads", fmt::format("{}, of which {} violated their SLO", run.num_loads, run.num_violated));
  facts.emplace_back("simulated", to_text(metrics.simulated_time));
  facts.emplace_back("GPU busy", fmt::format("{} ({:.2f} %)", to_text(metrics.gpu_busy_time),
                                             100 * metrics.gpu_busy_fraction));
  facts.emplace_back("link used", fmt::format("{:.2f} %, {} moved", 100 * metrics.link_utilisation,
                                              to_text(metrics.bytes_moved)));
  facts.emplace_back("stored per context", to_text(metrics.stored_per_context));
}

// "0.25 s after arrival"; absent: "never".
std::string after(const LoadRecord& load, const std::optional<Instant>& at) {
  return at ? to_text(*at - load.arrived_at) : "never";
}

void add_load(const LoadRecord& load, Facts& facts) {
  facts.emplace_back("load", fmt::format("{}: {} tokens, arrived at {} of the run, SLO {}",
                                         load.index, load.context_tokens,
                                         to_text(load.arrived_at - kRunStart), to_text(load.slo)));
  facts.emplace_back("outcome", fmt::format("{}{}{}; {} its SLO", to_text(load.outcome),
                                            load.failure.empty() ? "" : ": ", load.failure,
                                            load.violated() ? "violated" : "met"));
  facts.emplace_back("KV ready, TTFT", fmt::format("{}, {}", after(load, load.kv_ready_at),
                                                   after(load, load.first_token_at)));
  facts.emplace_back("moved", to_text(load.bytes_moved));
  facts.emplace_back("recomputed", fmt::format("{} tokens", load.recomputed_tokens));
  facts.emplace_back("quality", fmt::format("{:.4f}", load.quality));
  facts.emplace_back("peak memory", to_text(load.peak_memory));
}

Result<LoadRecord> find_load(Store& store, const RowName& row) {
  auto loads = store.read_records(row.run);
  if (!loads) return loads.error();
  for (LoadRecord& load : *loads) {
    if (load.index == *row.load) return std::move(load);
  }
  return error_in(store.database().file(),
                  fmt::format("has no {}", RowName{row.run, row.load, {}}.text()),
                  fmt::format("run {} has {} loads", row.run.value, loads->size()));
}

Status keep_one_chunk(const Store& store, const RowName& row, LoadRecord& load) {
  for (const ChunkRecord& chunk : load.chunks) {
    if (chunk.index != *row.chunk) continue;
    load.chunks = {ChunkRecord(chunk)};
    return {};
  }
  return error_in(store.database().file(), fmt::format("has no {}", row.text()),
                  fmt::format("the load has {} chunks", load.chunks.size()));
}

}  // namespace

std::string RowName::text() const {
  if (chunk) return fmt::format("chunk:{}/{}/{}", run.value, load.value_or(0), *chunk);
  if (load) return fmt::format("load:{}/{}", run.value, *load);
  return fmt::format("run:{}", run.value);
}

Result<RowName> parse_row_name(std::string_view text) {
  constexpr std::array<std::string_view, 3> kWords{"run", "load", "chunk"};
  std::string_view rest = text;
  std::optional<std::size_t> wanted;  // how many numbers follow the word, less one
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    const auto word = std::find(kWords.begin(), kWords.end(), text.substr(0, colon));
    if (word == kWords.end()) return no_such_row_name(text);
    wanted = static_cast<std::size_t>(word - kWords.begin());
    rest.remove_prefix(colon + 1);
  }
  std::vector<std::int64_t> numbers;
  while (true) {
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (code != std::errc() || number < 0) return no_such_row_name(text);
    numbers.push_back(number);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (rest.empty()) break;
    if (rest.front() != '/') return no_such_row_name(text);
    rest.remove_prefix(1);
  }
  if (numbers.size() > kWords.size() || (wanted && *wanted + 1 != numbers.size()))
    return no_such_row_name(text);
  RowName row{.run = {numbers[0]}, .load = std::nullopt, .chunk = std::nullopt};
  if (numbers.size() > 1) row.load = numbers[1];
  if (numbers.size() > 2) row.chunk = numbers[2];
  return row;
}

Result<Explanation> explain(Store& store, const RowName& row) {
  const auto snapshot = Transaction::begin_reading(store.database());
  if (!snapshot) return snapshot.error();
  const auto runs = store.read_runs({.run = row.run, .done_only = false});
  if (!runs) return runs.error();
  if (runs->empty()) {
    return error_in(store.database().file(), fmt::format("has no run:{}", row.run.value),
                    "`./sluice store list --runs` shows those it has");
  }
  const RunRow& run = runs->front();
  const auto campaign = store.read_campaign(run.campaign);
  if (!campaign) return campaign.error();
  Explanation explanation{
      .row = row.text(), .facts = {}, .load = std::nullopt, .command = command_for(run, *campaign)};
  const auto scenario = store.read_scenario(run.scenario_sha256);
  if (!scenario) return scenario.error();
  add_inputs(run, scenario->canonical, explanation.facts);
  add_provenance(run, *campaign, explanation.facts);
  add_result(run, explanation.facts);
  if (!row.load) return explanation;
  auto load = find_load(store, row);
  if (!load) return load.error();
  add_load(*load, explanation.facts);
  if (row.chunk) {
    if (Status found = keep_one_chunk(store, row, *load); !found) return found.error();
  }
  explanation.load = std::move(*load);
  return explanation;
}

}  // namespace sluice
