// The command line of `sluice sim`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/table.h"
#include "sim/scenario/scenario.h"

namespace sluice {

struct SimOptions {
  std::string scenario;
  ScenarioOverrides overrides;
  std::optional<std::int64_t> only_replicate;
  std::optional<std::string> store;
  std::optional<std::string> report;
  std::optional<std::string> baseline;
  int jobs = 1;
  TableFormat format = TableFormat::kTable;
  bool list = false;
  bool dry_run = false;
  bool validate = false;  // compare tiers instead of policies
};

// Fills `options`; on --help or a fault it has printed and the exit code is returned.
[[nodiscard]] std::optional<int> parse_sim_options(int argc, char** argv, SimOptions& options);

}  // namespace sluice
