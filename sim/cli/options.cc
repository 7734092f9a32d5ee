#include "sim/cli/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "base/command_line.h"
#include "base/parse.h"

namespace sluice {
namespace {

constexpr std::int64_t kMaxJobs = 1024;

constexpr const char* kExample = R"(example:
  ./sluice sim edge-fluctuating --tier fluid --replicates 20
  ./sluice sim cachegen-replica --policy fixed:level=int8@token --policy cachegen-released --format json
  ./sluice sim edge-fluctuating --validate
)";

// Numbers come as text, so that a fault is reported in our words.
struct Texts {
  std::string seed, replicates, replicate, jobs, format = "table", link_trace, store, report,
                                                 variant, baseline;
};

std::optional<std::int64_t> whole(const std::string& text, const std::string& option,
                                  std::int64_t low, std::int64_t high,
                                  std::optional<Error>& error) {
  if (text.empty() || error) return std::nullopt;
  const Result<std::int64_t> value = parse_integer(text, option);
  if (!value) {
    error = value.error();
  } else if (*value < low || *value > high) {
    error = error_in("", fmt::format("{}: {} is out of range", option, text),
                     fmt::format("use {} to {}", low, high));
  } else {
    return *value;
  }
  return std::nullopt;
}

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<Error> interpret(const Texts& texts, SimOptions& options) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::optional<Error> error;
  if (const auto n = whole(texts.seed, "--seed", 0, kMax, error))
    options.overrides.seed = static_cast<std::uint64_t>(*n);
  options.overrides.replicates = whole(texts.replicates, "--replicates", 1, 1'000'000, error);
  options.only_replicate = whole(texts.replicate, "--replicate", 0, 999'999, error);
  options.jobs = static_cast<int>(whole(texts.jobs, "--jobs", 1, kMaxJobs, error).value_or(1));
  const Result<TableFormat> format = parse_table_format(texts.format);
  if (!format && !error) error = format.error();
  if (format) options.format = *format;
  options.overrides.link_trace_file = given(texts.link_trace);
  options.overrides.variant = given(texts.variant);
  options.store = given(texts.store);
  options.report = given(texts.report);
  options.baseline = given(texts.baseline);
  if (options.scenario.empty() && !options.list && !options.validate && !error) {
    error = error_in("./sluice sim", "no scenario is named",
                     "name one; `./sluice sim --list` shows those shipped");
  }
  return error;
}

}  // namespace

std::optional<int> parse_sim_options(int argc, char** argv, SimOptions& options) {
  CLI::App app{"Run a scenario under its policies, store every load, and print the verdict table.",
               "./sluice sim"};
  Texts t;
  app.add_option("SCENARIO,--scenario", options.scenario,
                 "name of a shipped scenario, a folder with scenario.yaml, or a file");
  app.add_option("--policy", options.overrides.policies,
                 "NAME[:key=value,...] in place of the scenario's policies; repeatable")
      ->allow_extra_args(false);
  app.add_option("--tier", options.overrides.tiers,
                 "network tier in place of the scenario's: fluid, burst, packet, tcp; repeatable")
      ->allow_extra_args(false);
  app.add_option("--replicates", t.replicates,
                 "how many replicates (draws of link, lengths, arrivals)");
  app.add_option("--replicate", t.replicate, "only this one, counted from 0");
  app.add_option("--seed", t.seed, "in place of the scenario's");
  app.add_option("--link-trace", t.link_trace,
                 "file that replaces the link's capacity; several traces in it run once each");
  app.add_option("--variant", t.variant,
                 "of a scenario with a matrix only this one, as in \"link.delay=10ms\"");
  app.add_option(
      "--store", t.store,
      "results store; runs that it holds are not made again (default: a new one in out/)");
  app.add_option("--baseline", t.baseline,
                 "compare the other policies with this one (default: all pairs)");
  app.add_option("--report", t.report, "also write an HTML page to this file");
  app.add_option("--jobs", t.jobs, "worker processes (default 1)");
  app.add_option("--format", t.format, "table, csv or json (default table)");
  app.add_flag("--list", options.list, "list the shipped scenarios");
  app.add_flag("--validate", options.validate,
               "compare network tiers on the same loads (fluid, burst and packet unless --tier "
               "says others, from the shallowest to the deepest); without SCENARIO: all shipped");
  app.add_flag("--dry-run", options.dry_run, "check the scenario and say what would run");
  app.footer(kExample);
  if (const auto code = parse_command_line(app, argc, argv)) return code;
  if (const auto error = interpret(t, options)) {
    std::cerr << error->to_line() << '\n';
    return kExitUsage;
  }
  return std::nullopt;
}

}  // namespace sluice
