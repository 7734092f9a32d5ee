// sluice emu validate: the same loads in simulation and over an emulated link, and how far they are
// apart.
#include <fmt/format.h>

#include <filesystem>

#include "analysis/store/store.h"
#include "base/parse.h"
#include "emu/cli/commands.h"
#include "emu/run/rehearsal.h"
#include "emu/run/single_link.h"
#include "sim/cli/campaign.h"
#include "sim/cli/notes.h"
#include "sim/cli/validate.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kReplicates = 2;  // when nobody says otherwise: they take real time
constexpr const char* kEmu = "emu";

struct Options {
  std::vector<std::string> scenarios, policies, tiers{"fluid", "packet"};
  std::string replicates, seed, variant, store, capture, emulator = "auto", format = "table";
  std::string contents_max = "6GB";
  int decode_threads = 1;
  std::vector<std::string> command;  // for provenance
};

EmulationOptions emulation_options(const Options& options) {
  return {.emulator = options.emulator, .decode_threads = options.decode_threads};
}

// As options of `sim`, which campaign and validation speak.
Result<SimOptions> sim_options(const Options& options) {
  SimOptions sim;
  sim.overrides.policies = options.policies;
  sim.overrides.tiers = options.tiers;
  sim.overrides.replicates = kReplicates;
  if (!options.replicates.empty()) {
    const Result<std::int64_t> number = parse_integer(options.replicates, "--replicates");
    if (!number) return number.error();
    if (*number < 1) return error_in("--replicates", "must be 1 or more", "give a number");
    sim.overrides.replicates = *number;
  }
  if (!options.seed.empty()) {
    const Result<std::int64_t> seed = parse_integer(options.seed, "--seed");
    if (!seed) return seed.error();
    if (*seed < 0) return error_in("--seed", "must be 0 or more", "give a number");
    sim.overrides.seed = static_cast<std::uint64_t>(*seed);
  }
  if (!options.variant.empty()) sim.overrides.variant = options.variant;
  const Result<TableFormat> format = parse_table_format(options.format);
  if (!format) return format.error();
  sim.format = *format;
  return sim;
}

Result<fs::path> store_file(const Options& options) {
  if (!options.store.empty()) return fs::path(options.store);
  std::error_code code;
  fs::create_directories("out", code);
  if (code) return error_in("out", "cannot be made: " + code.message(), "give --store FILE");
  return fs::path("out/emu-validation.db");
}

Result<std::vector<Scenario>> read_all(const Options& options, const SimOptions& sim) {
  std::vector<Scenario> scenarios;
  for (const std::string& name : options.scenarios) {
    const Result<fs::path> file = find_scenario(name);
    if (!file) return file.error();
    Result<std::vector<Scenario>> read = read_scenarios(*file, sim.overrides);
    if (!read) return read.error();
    for (Scenario& scenario : *read) {
      if (Status able = check_emulatable(scenario); !able) return able.error();
      drop_unable_tiers(scenario);
      scenarios.push_back(std::move(scenario));
    }
  }
  return scenarios;
}

Result<ScenarioContents> make_contents_of(const Scenario& scenario, const Options& options) {
  const Result<DataSize> size_max = parse_size(options.contents_max, "--contents-max");
  if (!size_max) return size_max.error();
  fmt::print(stderr, "{}: encoding its chunks ...\n", scenario.title());
  ScenarioContentsOptions contents;
  if (!options.capture.empty()) contents.capture = options.capture;
  contents.size_max = *size_max;
  contents.decode_threads = options.decode_threads;
  return make_scenario_contents(scenario, contents);
}

Status rehearse_decodes(ScenarioContents& made, EmulatedRuns& runs) {
  const std::string title = made.scenario.title();
  fmt::print(stderr, "{}: rehearsing its decodes ...\n", title);
  if (Status done = rehearse(made, runs, made.scenario.policies.front()); !done) return done;
  fmt::print(stderr, "{}: a request takes {} beyond the round trip\n", title,
             to_text(made.scenario.request_time));
  return {};
}

CampaignOptions campaign_options(const Scenario& scenario, const Options& options,
                                 const fs::path& store) {
  return {.store = store, .command = options.command, .scenario_argument = scenario.file};
}

Status simulate(const ScenarioContents& made, const Options& options, const fs::path& store) {
  fmt::print(stderr, "{}: simulating ...\n", made.scenario.title());
  const auto done = run_campaign(made.scenario, campaign_options(made.scenario, options, store));
  return done ? Status{} : Status{done.error()};
}

// In this process: the link, the server and the memory that the rehearsal used.
Status emulate(const ScenarioContents& made, EmulatedRuns& runs, const Options& options,
               const fs::path& store) {
  Scenario scenario = made.scenario;
  scenario.tiers = {kEmu};
  CampaignOptions campaign = campaign_options(scenario, options, store);
  campaign.jobs = 0;
  campaign.make_run = [&](const PolicySpec& policy, std::int64_t replicate, const std::string&) {
    fmt::print(stderr, "{}: emulating {}, replicate {} ...\n", scenario.title(), policy.name(),
               replicate);
    return runs.run(policy, replicate);
  };
  const auto done = run_campaign(scenario, campaign);
  return done ? Status{} : Status{done.error()};
}

// Emulates first: simulations fork, and memory that a fork has seen is slow to write again.
Result<Scenario> compare(const Scenario& scenario, const Options& options, const fs::path& store) {
  Result<ScenarioContents> made = make_contents_of(scenario, options);
  if (!made) return made.error();
  {
    EmulatedRuns runs(*made, emulation_options(options));
    if (Status done = rehearse_decodes(*made, runs); !done) return done.error();
    if (Status done = emulate(*made, runs, options, store); !done) return done.error();
  }
  if (Status done = simulate(*made, options, store); !done) return done.error();
  Scenario compared = made->scenario;
  compared.tiers.emplace_back(kEmu);
  return compared;
}

// What the host did to the runs of these scenarios.
Status print_health(const std::vector<Scenario>& scenarios, const fs::path& file) {
  const Result<Store> store = Store::open_to_read(file);
  if (!store) return store.error();
  for (const Scenario& scenario : scenarios) {
    RunFilter filter;
    filter.scenario_sha256 = scenario.sha256;
    filter.tier = kEmu;
    const auto runs = store->read_runs(filter);
    if (!runs) return runs.error();
    for (const RunRow& run : *runs) {
      if (!run.metrics.health || run.metrics.health->is_valid()) continue;
      fmt::print(stderr, "{}: not valid, left out: {}\n", name_of(run), run.metrics.health->doubts);
    }
  }
  return {};
}

Result<int> validate(const Options& options) {
  const Result<SimOptions> sim = sim_options(options);
  if (!sim) return sim.error();
  const Result<std::vector<Scenario>> scenarios = read_all(options, *sim);
  if (!scenarios) return scenarios.error();
  const Result<fs::path> store = store_file(options);
  if (!store) return store.error();
  std::vector<Scenario> compared;
  for (const Scenario& scenario : *scenarios) {
    Result<Scenario> done = compare(scenario, options, *store);
    if (!done) return done.error();
    compared.push_back(std::move(*done));
  }
  if (Status done = print_health(compared, *store); !done) return done.error();
  if (Status done = validate_tiers(compared, *store, *sim); !done) return done.error();
  fmt::print(stderr, "\nstore:  {}\n", store->string());
  return 0;
}

}  // namespace

void add_validate(CLI::App& app, EmuRun& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "validate", "the same loads simulated and emulated, and how far they are apart");
  command->add_option("SCENARIO", options->scenarios, "names, folders or files")->required();
  command->add_option("--policy", options->policies,
                      "NAME[:key=value,...] in place of the scenario's policies; repeatable");
  command->add_option("--tier", options->tiers, "simulated tiers; repeatable")
      ->capture_default_str();
  command->add_option("--replicates", options->replicates,
                      fmt::format("loads take real time; default {}", kReplicates));
  command->add_option("--variant", options->variant,
                      "only this one of a scenario's matrix, as `link.capacity=3Gbit/s`");
  command->add_option("--seed", options->seed, "of all draws");
  command->add_option("--capture", options->capture,
                      "a KV cache (.safetensors) whose values fill the chunks; default: made ones");
  command->add_option("--contents-max", options->contents_max, "memory for encoded chunks")
      ->capture_default_str();
  command->add_option("--decode-threads", options->decode_threads, "of each decode")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--emulator", options->emulator, "auto, tun, kernel or process")
      ->capture_default_str();
  command->add_option("--store", options->store, "default out/emu-validation.db");
  command->add_option("--format", options->format, "table, csv or json")->capture_default_str();
  command->footer("example: ./sluice emu validate edge-step-down --policy seed-ratio");
  command->callback([options, &run] { run = [options] { return validate(*options); }; });
}

}  // namespace sluice::cli
