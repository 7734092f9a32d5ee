// Scenario files for tests: a small valid one, and ways to distort it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "sim/scenario/scenario.h"
#include "tests/temporary_folder.h"

namespace sluice {

inline const std::string kSmallScenario = R"(name: small
question: Does it read?
seed: 7
replicates: 3
tier: fluid
link:
  capacity: 1Gbit/s
  delay: 10ms
model: mistral-7b
compute:
  device: a40
codec:
  profile: cachegen-mistral-7b-published
  levels: [int8@token, cachegen-released@2]
  chunk_tokens: 1500
workload:
  arrivals: isolated
  loads: 2
  context_tokens: {low: 1000, high: 4000}
slo: 2s
policies:
  - fixed:level=int8@token
  - recompute
)";

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return "the text to replace is not there: " + from;
  return text.replace(at, from.size(), to);
}

inline std::filesystem::path write_text(const std::string& name, const std::string& text) {
  const auto path = temporary_folder() / name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

inline Result<Scenario> read_text(const std::string& text,
                                  const ScenarioOverrides& overrides = {}) {
  return read_scenario(write_text("scenario_under_test.yaml", text), overrides);
}

}  // namespace sluice
