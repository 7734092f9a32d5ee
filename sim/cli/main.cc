// `sluice sim`: a scenario under its policies, every load stored, the verdict printed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/report/report.h"
#include "base/files.h"
#include "sim/cli/campaign.h"
#include "sim/cli/options.h"
#include "sim/cli/outcome.h"

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

// A new file of its own for every command without --store: out/<scenario>-<UTC time>.db.
Result<fs::path> fresh_store(const Scenario& s) {
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
        folder / fmt::format("{}-{}{}.db", s.name, stamp, n == 0 ? "" : fmt::format("-{}", n));
    if (!fs::exists(file)) return file;
  }
}

int print_plan(const Scenario& s) {
  fmt::print("scenario    {} ({})\nquestion    {}\n", s.name, s.file, s.question);
  fmt::print("runs        {} replicates x {} policies x {} tiers, {} loads each\n", s.replicates,
             s.policies.size(), s.tiers.size(), s.workload.loads);
  fmt::print("policies    {}\ntiers       {}\n", fmt::join(names_of_policies(s), " "),
             fmt::join(s.tiers, " "));
  fmt::print("model       {}, {} to {} tokens in chunks of {}\n", s.model.name,
             s.workload.context_tokens.low, s.workload.context_tokens.high, s.chunk_tokens);
  fmt::print("ladder      {}\ndevice      {}\nslo         {}\n", s.ladder_words, s.device.name,
             to_text(s.slo));
  fmt::print("sha256      {}\n", s.sha256);
  return 0;
}

// What a user should know of the files that the link replays, before believing the numbers.
void print_trace_notes(const Scenario& s) {
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

int run(int argc, char** argv) {
  SimOptions options;
  if (const auto code = parse_sim_options(argc, argv, options)) return *code;
  if (options.list) return list_scenarios(options.format);
  const Result<fs::path> file = find_scenario(options.scenario);
  if (!file) return fail(file.error());
  const Result<Scenario> scenario = read_scenario(*file, options.overrides);
  if (!scenario) return fail(scenario.error());
  print_trace_notes(*scenario);
  if (options.dry_run) return print_plan(*scenario);
  const Result<fs::path> store =
      options.store ? Result<fs::path>(fs::path(*options.store)) : fresh_store(*scenario);
  if (!store) return fail(store.error());
  const Result<CampaignSummary> summary =
      run_campaign(*scenario, {.store = *store,
                               .jobs = options.jobs,
                               .command = std::vector<std::string>(argv, argv + argc),
                               .scenario_argument = options.scenario,
                               .link_trace_file = options.overrides.link_trace_file,
                               .only_replicate = options.only_replicate});
  if (!summary) return fail(summary.error());
  const Result<std::vector<Score>> scores = score_campaign(*scenario, *store, options);
  if (!scores) return fail(scores.error());
  fmt::print(stderr, "{}: {}\n\n", scenario->name, scenario->question);
  std::fflush(stderr);
  print_verdict(*scores, *store, options);
  fmt::print(stderr, "\nstore:  {} ({} runs, {} of them held before)\n", store->string(),
             summary->num_runs, summary->num_reused);
  if (options.report) {
    if (const Status written = write_report(*store,
                                            {.scenario_sha256 = scenario->sha256,
                                             .baseline = options.baseline,
                                             .delta = scenario->delta},
                                            *options.report);
        !written) {
      return fail(written.error());
    }
    fmt::print(stderr, "report: {}\n", *options.report);
  }
  return 0;
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
