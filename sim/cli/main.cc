// `sluice sim`: a scenario under its policies, every load stored, the verdict printed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/report/report.h"
#include "base/files.h"
#include "sim/cli/campaign.h"
#include "sim/cli/notes.h"
#include "sim/cli/options.h"
#include "sim/cli/outcome.h"
#include "sim/cli/validate.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

int fail(const Error& error) {
  std::cerr << error.to_line() << '\n';
  return 1;
}

int list_scenarios(TableFormat format) {
  const auto files = shipped_scenarios();
  if (!files) return fail(files.error());
  Table table;
  table.column("name", "scenario", Align::kLeft).column("question", "question", Align::kLeft);
  nlohmann::json json = nlohmann::json::array();
  for (const fs::path& file : *files) {
    const Result<Scenario> s = read_scenario(file, {});
    if (!s) return fail(s.error());
    table.row({s->name, s->question});
    json.push_back({{"name", s->name}, {"question", s->question}});
  }
  print_as(format, table, json, std::cout);
  return 0;
}

// A new file of its own for every command without --store: out/<name>-<UTC time>.db.
Result<fs::path> fresh_store(const std::string& name) {
  const fs::path folder = "out";
  std::error_code code;
  fs::create_directories(folder, code);
  if (code)
    return error_in(folder.string(), "cannot be made: " + code.message(), "give --store FILE");
  char stamp[32];
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  (void)std::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
  for (int n = 0;; ++n) {
    fs::path file =
        folder / fmt::format("{}-{}{}.db", name, stamp, n == 0 ? "" : fmt::format("-{}", n));
    if (!fs::exists(file)) return file;
  }
}

int print_plan(std::span<const Scenario> variants) {
  const Scenario& s = variants.front();
  fmt::print("scenario    {} ({})\nquestion    {}\n", s.name, s.file, s.question);
  fmt::print("runs        {} replicates x {} policies x {} tiers, {} loads each\n", s.replicates,
             s.policies.size(), s.tiers.size(), s.workload.loads);
  fmt::print("policies    {}\ntiers       {}\n", fmt::join(names_of_policies(s), " "),
             fmt::join(s.tiers, " "));
  fmt::print("model       {}, {} to {} tokens in chunks of {}\n", s.model.name,
             s.workload.context_tokens.low, s.workload.context_tokens.high, s.chunk_tokens);
  fmt::print("ladder      {}\ndevice      {}\nslo         {}\n", s.ladder_words, s.device.name,
             to_text(s.slo));
  for (const Scenario& variant : variants) {
    fmt::print("sha256      {}{}{}\n", variant.sha256, variant.variant.empty() ? "" : "  ",
               variant.variant);
  }
  return 0;
}

Result<fs::path> store_file(const SimOptions& options, const std::string& name) {
  if (options.store) return fs::path(*options.store);
  return fresh_store(name);
}

CampaignOptions campaign_options(const SimOptions& options, const fs::path& store, int argc,
                                 char** argv) {
  return {.store = store,
          .jobs = options.jobs,
          .command = std::vector<std::string>(argv, argv + argc),
          .scenario_argument = options.scenario,
          .link_trace_file = options.overrides.link_trace_file,
          .only_replicate = options.only_replicate};
}

// Runs a campaign for each variant; 0 when all are in the store.
Status run_campaigns(std::span<const Scenario> scenarios, const CampaignOptions& options,
                     CampaignSummary& all) {
  for (const Scenario& scenario : scenarios) {
    if (scenarios.size() > 1) fmt::print(stderr, "{}\n", scenario.title());
    const Result<CampaignSummary> summary = run_campaign(scenario, options);
    if (!summary) return summary.error();
    all.num_runs += summary->num_runs;
    all.num_reused += summary->num_reused;
  }
  return {};
}

Status write_reports(std::span<const Scenario> scenarios, const fs::path& store,
                     const SimOptions& options) {
  // A page is about one scenario; of several the first has it, and `./sluice report` makes others.
  const Scenario& first = scenarios.front();
  Status written = write_report(
      store, {.scenario_sha256 = first.sha256, .baseline = options.baseline, .delta = first.delta},
      *options.report);
  if (written) fmt::print(stderr, "report: {} ({})\n", *options.report, first.title());
  return written;
}

int run_scenario(const SimOptions& options, int argc, char** argv) {
  const Result<fs::path> file = find_scenario(options.scenario);
  if (!file) return fail(file.error());
  const Result<std::vector<Scenario>> scenarios = read_scenarios(*file, options.overrides);
  if (!scenarios) return fail(scenarios.error());
  const Scenario& first = scenarios->front();
  print_trace_notes(first);
  for (const Scenario& scenario : *scenarios) {
    if (Status able = print_tier_notes(scenario); !able) return fail(able.error());
  }
  if (options.dry_run) return print_plan(*scenarios);
  const Result<fs::path> store = store_file(options, first.name);
  if (!store) return fail(store.error());
  CampaignSummary summary;
  if (Status run =
          run_campaigns(*scenarios, campaign_options(options, *store, argc, argv), summary);
      !run) {
    return fail(run.error());
  }
  std::vector<Score> scores;
  for (const Scenario& scenario : *scenarios) {
    Result<std::vector<Score>> scored = score_campaign(scenario, *store, options);
    if (!scored) return fail(scored.error());
    for (Score& score : *scored) scores.push_back(std::move(score));
  }
  fmt::print(stderr, "{}: {}\n\n", first.name, first.question);
  std::fflush(stderr);
  print_verdict(scores, *store, options);
  fmt::print(stderr, "\nstore:  {} ({} runs, {} of them held before)\n", store->string(),
             summary.num_runs, summary.num_reused);
  if (!options.report) return 0;
  const Status written = write_reports(*scenarios, *store, options);
  return written ? 0 : fail(written.error());
}

Result<std::vector<fs::path>> scenarios_to_validate(const SimOptions& options) {
  if (options.scenario.empty()) return shipped_scenarios();
  Result<fs::path> one = find_scenario(options.scenario);
  if (!one) return one.error();
  return std::vector<fs::path>{std::move(*one)};
}

// Every variant of the scenarios, with the tiers that can run it; those with fewer than two of them
// are left out.
Result<std::vector<Scenario>> read_to_validate(const SimOptions& options) {
  const Result<std::vector<fs::path>> files = scenarios_to_validate(options);
  if (!files) return files.error();
  std::vector<Scenario> scenarios;
  for (const fs::path& file : *files) {
    Result<std::vector<Scenario>> read = read_scenarios(file, options.overrides);
    if (!read) return read.error();
    for (Scenario& scenario : *read) {
      drop_unable_tiers(scenario);
      if (scenario.tiers.size() >= 2) {
        scenarios.push_back(std::move(scenario));
      } else {
        fmt::print(stderr, "note: {} is left out: fewer than two tiers can run it\n",
                   scenario.title());
      }
    }
  }
  return scenarios;
}

int run_validation(SimOptions options, int argc, char** argv) {
  if (options.report) return fail(error_in("--report", "a validation has no page", "leave it out"));
  if (options.overrides.tiers.empty()) options.overrides.tiers = kValidatedTiers;
  if (options.overrides.tiers.size() < 2)
    return fail(error_in("--validate", "compares two tiers or more", "give another --tier"));
  if (!options.overrides.replicates) options.overrides.replicates = kValidatedReplicates;
  const Result<std::vector<Scenario>> scenarios = read_to_validate(options);
  if (!scenarios) return fail(scenarios.error());
  if (options.dry_run) {
    for (const Scenario& scenario : *scenarios) print_plan(std::span(&scenario, 1));
    return 0;
  }
  const Result<fs::path> store = store_file(options, "validation");
  if (!store) return fail(store.error());
  for (const Scenario& scenario : *scenarios) {
    fmt::print(stderr, "{}\n", scenario.title());
    CampaignOptions campaign = campaign_options(options, *store, argc, argv);
    campaign.scenario_argument = scenario.file;
    const Result<CampaignSummary> summary = run_campaign(scenario, campaign);
    if (!summary) return fail(summary.error());
  }
  if (const Status done = validate_tiers(*scenarios, *store, options); !done)
    return fail(done.error());
  fmt::print(stderr, "\nstore:  {}\n", store->string());
  return 0;
}

int run(int argc, char** argv) {
  SimOptions options;
  if (const auto code = parse_sim_options(argc, argv, options)) return *code;
  if (options.list) return list_scenarios(options.format);
  return options.validate ? run_validation(std::move(options), argc, argv)
                          : run_scenario(options, argc, argv);
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  try {
    return sluice::run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what()
              << "; this value cannot be computed with, use smaller sizes or times\n";
    return 1;
  }
}
