// Prints how often intervals cover and verdicts err, and how long scoring takes: the figures of
// analysis/score/README.md. Usage: score_calibration [REPEATS], 4000 unless said otherwise. Seeded:
// the same shares on every host.
#include <fmt/format.h>

#include <ctime>
#include <iostream>

#include "base/parse.h"
#include "base/random.h"
#include "base/table.h"
#include "tests/analysis/score_samples.h"
#include "tests/analysis/score_simulation.h"

namespace sluice {
namespace {

std::string percent(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

void print_coverage(std::int64_t repeats) {
  Table table;
  table.column("windows", "windows").column("loads", "loads each").column("rate", "true rate, %");
  table.column("rho", "rho")
      .column("published", "published covers, %")
      .column("wilson", "Wilson alone, %");
  for (const double b : {4.0, 19.0}) {
    for (const std::int64_t clusters : {2, 3, 5, 10, 20, 40, 100}) {
      for (const bool dependent : {true, false}) {
        const Experiment experiment{
            .clusters = clusters, .loads = 25, .b = b, .dependent = dependent};
        const Coverage coverage = coverage_of(experiment, repeats);
        table.row({fmt::format("{}", clusters), "25", percent(experiment.truth()),
                   fmt::format("{:.2f}", dependent ? 1 / (2 + b) : 0), percent(coverage.published),
                   percent(coverage.wilson)});
      }
    }
  }
  table.print_text(std::cout);
}

void print_verdicts(std::int64_t repeats) {
  Table table;
  table.column("noise", "policies differ", Align::kLeft)
      .column("windows", "windows")
      .column("truth", "b worse by, points");
  table.column("better", "a better, %")
      .column("worse", "a worse, %")
      .column("equivalent", "equivalent, %");
  for (const Noise noise : {Noise::kPerLoad, Noise::kPerWindow}) {
    for (const std::int64_t clusters : {5, 10, 40}) {
      for (const double extra : {0.0, 0.0625}) {
        const Verdicts verdicts = verdicts_of(noise, extra, clusters, repeats);
        table.row({noise == Noise::kPerLoad ? "by load" : "by window", fmt::format("{}", clusters),
                   fmt::format("{:.0f}", 80 * extra), percent(verdicts.better),
                   percent(verdicts.worse), percent(verdicts.equivalent)});
      }
    }
  }
  table.print_text(std::cout);
}

void print_families(std::int64_t repeats) {
  Table table;
  table.column("noise", "policies differ", Align::kLeft).column("policies", "equal policies");
  table.column("windows", "windows").column("alarms", "any pair called different, %");
  for (const Noise noise : {Noise::kPerLoad, Noise::kPerWindow}) {
    for (const std::int64_t clusters : {10, 40}) {
      table.row({noise == Noise::kPerLoad ? "by load" : "by window", "5",
                 fmt::format("{}", clusters),
                 percent(family_false_alarms(noise, 5, clusters, repeats))});
    }
  }
  table.print_text(std::cout);
}

// Ten policies, all 45 pairs, 10 000 loads each, 10 000 resamples.
void print_times() {
  Table table;
  table.column("windows", "windows")
      .column("loads", "loads each")
      .column("seconds", "CPU seconds to score");
  for (const std::int64_t clusters : {40, 1000, 10'000}) {
    RandomStream random(1, "times", 0);
    std::vector<PolicyInput> policies;
    for (int p = 0; p < 10; ++p) {
      Outcomes outcomes(static_cast<std::size_t>(clusters));
      for (auto& window : outcomes) {
        for (std::int64_t i = 0; i < 10'000 / clusters; ++i)
          window.push_back(random.bernoulli(0.1 + 0.05 * p));
      }
      policies.push_back(policy_with(fmt::format("p{}", p), outcomes));
    }
    const std::clock_t began =
        std::clock();  // of this process: other work on the host does not count
    const auto scored = score(input_of(std::move(policies)), {});
    const double took =
        static_cast<double>(std::clock() - began) / static_cast<double>(CLOCKS_PER_SEC);
    if (!scored) std::abort();
    table.row({fmt::format("{}", clusters), fmt::format("{}", 10'000 / clusters),
               fmt::format("{:.2f}", took)});
  }
  table.print_text(std::cout);
}

int run(int argc, char** argv) {
  const auto repeats = parse_integer(argc > 1 ? argv[1] : "4000", "REPEATS");
  if (!repeats || *repeats <= 0) {
    std::cerr << error_in("", "REPEATS is not a positive number", "leave it out for 4000").to_line()
              << '\n';
    return 2;
  }
  print_times();
  std::cout << '\n';
  print_coverage(*repeats);
  std::cout << '\n';
  print_verdicts(*repeats);
  std::cout << '\n';
  print_families(*repeats);
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  return sluice::run(argc, argv);
}
