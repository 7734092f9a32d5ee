// `sluice compare`: verdicts from a store. Policies side by side, and which of them differ.
// Where in the flow: reads the store (7), scores (6), prints; data to stdout, notes to stderr.
// Surprise: a store with several scenarios, tiers or seeds gives one comparison for each; they are
// never mixed.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/score/from_store.h"
#include "analysis/score/policy_names.h"
#include "analysis/score/verdict.h"
#include "base/command_line.h"
#include "base/names.h"
#include "base/parse.h"
#include "base/table.h"

namespace sluice {
namespace {

struct CompareOptions {
  std::string store;
  std::vector<std::string> policies;
  std::string baseline, scenario, tier;  // empty: not given
  std::string replicates;                // the first so many; empty: all
  std::string delta = "1%";
  std::string format = "table";
  bool pairs = false;
};

void describe(CLI::App& app, CompareOptions& options) {
  app.description(
      "Verdicts from a store: each policy's share of loads that violate their SLO, with 95 % "
      "intervals,\n"
      "and which policies differ, paired over the loads that both met.");
  app.footer(
      "example: ./sluice compare --store runs.db --baseline fixed\n"
      "example: ./sluice compare --store runs.db --tier fluid --format json | jq "
      "'.pairs[].verdict'");
  app.add_option("--store", options.store, "store that `./sluice sim --store` wrote")->required();
  app.add_option("--policy", options.policies,
                 "only this policy, as NAME[:key=value,...]; repeatable");
  app.add_option("--baseline", options.baseline,
                 "compare all others with this policy; else every pair is compared");
  app.add_option("--scenario", options.scenario, "only this scenario");
  app.add_option("--tier", options.tier, "only this tier");
  app.add_option("--replicates", options.replicates, "only the first so many replicates");
  app.add_option("--delta", options.delta,
                 "differences of violation rates within this are equivalent, in percent points")
      ->capture_default_str();
  app.add_option("--format", options.format, "table, csv or json")->capture_default_str();
  app.add_flag("--pairs", options.pairs, "in table and csv: the pairs instead of the policies");
}

// "1%" -> 0.01
Result<double> parse_delta(const std::string& text) {
  const auto refuse = [&] {
    return error_in("--delta", fmt::format("`{}` is not a share below 100%", text),
                    "write it with its unit, as in 1%");
  };
  if (text.empty() || text.back() != '%') return refuse();
  const auto percent = parse_number(std::string_view(text).substr(0, text.size() - 1), "delta");
  if (!percent || *percent < 0 || *percent >= 100) return refuse();
  return *percent / 100;
}

Result<std::optional<std::int64_t>> parse_replicates(const std::string& text) {
  if (text.empty()) return std::optional<std::int64_t>{};
  const auto number = parse_integer(text, "replicates");
  if (number && *number > 0) return std::optional(*number);
  return error_in("--replicates", fmt::format("`{}` is not a number of replicates", text),
                  "give one above 0");
}

// Narrows to one scenario and one tier where asked; an unknown name is an error that lists what
// there is.
Status keep_asked(const CompareOptions& options, std::vector<ScoreInput>& inputs) {
  const auto keep = [&](const std::string& wanted, const char* option, const char* noun,
                        std::string ScoreInput::*field) -> Status {
    if (wanted.empty()) return {};
    std::vector<std::string> known;
    for (const ScoreInput& input : inputs) {
      if (std::find(known.begin(), known.end(), input.*field) == known.end())
        known.push_back(input.*field);
    }
    std::erase_if(inputs, [&](const ScoreInput& input) { return input.*field != wanted; });
    if (!inputs.empty()) return {};
    return error_in(option, fmt::format("no runs of {} `{}` in {}", noun, wanted, options.store),
                    suggest_name(wanted, known));
  };
  if (auto kept = keep(options.scenario, "--scenario", "scenario", &ScoreInput::scenario); !kept)
    return kept;
  return keep(options.tier, "--tier", "tier", &ScoreInput::tier);
}

Result<std::vector<ScoreInput>> read_inputs(const CompareOptions& options) {
  const auto store = Store::open_to_read(options.store);
  if (!store) return store.error();
  const auto num_replicates = parse_replicates(options.replicates);
  if (!num_replicates) return num_replicates.error();
  auto inputs = read_score_inputs(*store, {}, {.num_replicates = *num_replicates});
  if (!inputs) return inputs;
  if (inputs->empty()) {
    return error_in(options.store, "no run in this store is done",
                    "fill it: ./sluice sim SCENARIO --store " + options.store);
  }
  if (const auto kept = keep_asked(options, *inputs); !kept) return kept.error();
  for (ScoreInput& input : *inputs) {
    if (const auto kept = keep_policies(options.policies, input); !kept) return kept.error();
  }
  return inputs;
}

Result<std::vector<Score>> score_all(const CompareOptions& options) {
  const auto delta = parse_delta(options.delta);
  if (!delta) return delta.error();
  auto inputs = read_inputs(options);
  if (!inputs) return inputs.error();
  std::vector<Score> scores;
  for (ScoreInput& input : *inputs) {
    ScoreOptions scoring{.delta = *delta};
    if (!options.baseline.empty()) {
      const auto baseline = find_policy(options.baseline, policy_names(input), "--baseline");
      if (!baseline) return baseline.error();
      scoring.baseline = *baseline;
    }
    auto scored = score(std::move(input), scoring);
    if (!scored) {
      Error error = scored.error();
      if (error.file.empty()) error.file = options.store;
      return error;
    }
    scores.push_back(std::move(*scored));
  }
  return scores;
}

std::string heading(const Score& score) {
  return fmt::format("{} ({}), tier {}, seed {}", score.scenario,
                     score.scenario_sha256.substr(0, 8), score.tier, score.seed);
}

void print_for_people(const std::vector<Score>& scores, bool pairs) {
  for (const Score& score : scores) {
    if (scores.size() > 1)
      std::cout << (&score == scores.data() ? "" : "\n") << heading(score) << "\n\n";
    if (pairs) {
      pair_table({score}).print_text(std::cout);
      continue;
    }
    verdict_table(score).print_text(std::cout);
    if (!score.pairs.empty()) std::cout << '\n';
    for (const std::string& line : verdict_lines(score)) std::cout << line << '\n';
  }
}

Status run(const CompareOptions& options) {
  const auto format = parse_table_format(options.format);
  if (!format) return format.error();
  const auto scores = score_all(options);
  if (!scores) return scores.error();
  if (*format == TableFormat::kTable) {
    print_for_people(*scores, options.pairs);
  } else {
    print_as(*format, options.pairs ? pair_table(*scores) : verdict_table(*scores),
             verdict_json(*scores, options.store), std::cout);
  }
  std::cout.flush();
  if (!std::cout)
    return error_in("stdout", "the output could not be written",
                    "check the disk or the reader of the pipe");
  for (const Score& score : *scores) {
    for (const std::string& note : score.notes)
      std::cerr << "note: " << heading(score) << ": " << note << '\n';
  }
  return {};
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  sluice::CompareOptions options;
  CLI::App app;
  app.name("./sluice compare");
  sluice::describe(app, options);
  if (const auto code = sluice::parse_command_line(app, argc, argv)) return *code;
  const sluice::Status done = sluice::run(options);
  if (done) return 0;
  std::cerr << done.error().to_line() << '\n';
  return 1;
}
