// `sluice sim`: a scenario under its policies, every load stored, the verdict printed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/report/report.h"
#include "analysis/score/from_store.h"
#include "analysis/score/policy_names.h"
#include "analysis/score/verdict.h"
#include "base/files.h"
#include "sim/cli/campaign.h"
#include "sim/cli/options.h"

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
  if (code) return error_in(folder.string(), "cannot be made: " + code.message(), "give --store FILE");
  char stamp[32];
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  (void)std::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
  for (int n = 0;; ++n) {
    fs::path file = folder / fmt::format("{}-{}{}.db", s.name, stamp, n == 0 ? "" : fmt::format("-{}", n));
    if (!fs::exists(file)) return file;
  }
}

std::vector<std::string> policy_names(const Scenario& s) {
  std::vector<std::string> names;
  for (const PolicySpec& policy : s.policies) names.push_back(policy.name());
  return names;
}

int print_plan(const Scenario& s) {
  fmt::print("scenario    {} ({})\nquestion    {}\n", s.name, s.file, s.question);
  fmt::print("runs        {} replicates x {} policies x {} tiers, {} loads each\n", s.replicates, s.policies.size(),
             s.tiers.size(), s.workload.loads);
  fmt::print("policies    {}\ntiers       {}\n", fmt::join(policy_names(s), " "), fmt::join(s.tiers, " "));
  fmt::print("model       {}, {} to {} tokens in chunks of {}\n", s.model.name, s.workload.context_tokens.low,
             s.workload.context_tokens.high, s.chunk_tokens);
  fmt::print("ladder      {}\ndevice      {}\nslo         {}\n", s.ladder_words, s.device.name, to_text(s.slo));
  fmt::print("sha256      {}\n", s.sha256);
  return 0;
}

Result<std::vector<Score>> score_campaign(const Scenario& s, const fs::path& store_file, const SimOptions& options) {
  Result<Store> store = Store::open_to_read(store_file);
  if (!store) return store.error();
  std::vector<Score> scores;
  for (const std::string& tier : s.tiers) {
    RunFilter filter;
    filter.scenario_sha256 = s.sha256;
    filter.tier = tier;
    Result<std::vector<ScoreInput>> inputs = read_score_inputs(*store, filter);
    if (!inputs) return inputs.error();
    for (ScoreInput& input : *inputs) {
      if (input.seed != s.seed) continue;
      // The policies of this command only: the store may hold more of the same scenario.
      if (Status kept = keep_policies(policy_names(s), input); !kept) return kept.error();
      Result<Score> scored = score(std::move(input), {.baseline = options.baseline, .delta = s.delta});
      if (!scored) return scored.error();
      scores.push_back(std::move(*scored));
    }
  }
  return scores;
}

// All pairs are in the JSON; people read those with the baseline, or with the policy that violates least.
Score pairs_to_read(Score score, const std::optional<std::string>& baseline) {
  if (baseline || score.policies.empty()) return score;
  const auto best = std::min_element(score.policies.begin(), score.policies.end(), [](const PolicyScore& a, const PolicyScore& b) {
    return a.violation_rate.value_or(1.0) < b.violation_rate.value_or(1.0);
  });
  std::erase_if(score.pairs, [&](const PairScore& pair) { return pair.a != best->policy && pair.b != best->policy; });
  return score;
}

void print_verdict(const std::vector<Score>& scores, const fs::path& store, const SimOptions& options) {
  print_as(options.format, verdict_table(scores), verdict_json(scores, store.string()), std::cout);
  std::cout.flush();
  for (const Score& s : scores) {
    std::cerr << '\n';
    for (const std::string& line : verdict_lines(pairs_to_read(s, options.baseline))) std::cerr << line << '\n';
    for (const std::string& note : s.notes) std::cerr << "note: " << note << '\n';
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
  if (options.dry_run) return print_plan(*scenario);
  const Result<fs::path> store = options.store ? Result<fs::path>(fs::path(*options.store)) : fresh_store(*scenario);
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
  fmt::print(stderr, "{}: {}\n{}\n\n", scenario->name, scenario->question, scenario->ladder_words);
  std::fflush(stderr);
  print_verdict(*scores, *store, options);
  fmt::print(stderr, "\nstore:  {} ({} runs, {} of them held before)\n", store->string(), summary->num_runs, summary->num_reused);
  if (options.report) {
    if (const Status written = write_report(*store, {.scenario_sha256 = scenario->sha256, .baseline = options.baseline}, *options.report); !written) {
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
    std::cerr << "error: " << e.what() << "; this value cannot be computed with, use smaller sizes or times\n";
    return 1;
  }
}
