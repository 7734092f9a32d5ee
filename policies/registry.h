// The table of policies: id, version, parameters, capability, factory. One line per policy in
// registry.cc.
// Where in the flow: scenario files and `--policy NAME[:key=value,...]` name entries of this table.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policies/policy.h"

namespace sluice {

using PolicyParameters = std::map<std::string, std::string>;

struct PolicyParameter {
  std::string name;
  std::string sentence;
  std::string default_value;  // empty: must be given
};

struct PolicyEntry {
  std::string id;
  int version = 1;
  std::string summary;
  bool clairvoyant = false;  // asks for Observation::foresight
  std::vector<PolicyParameter> parameters;
  // `levels` is the ladder of the scenario: a parameter that names a level is checked against it
  // here.
  Result<std::unique_ptr<Policy>> (*make)(const PolicyParameters& parameters,
                                          std::span<const LevelInfo> levels);
};

[[nodiscard]] std::span<const PolicyEntry> policy_registry();

// A policy with its parameters, all of them, defaults filled in.
struct PolicySpec {
  const PolicyEntry* entry = nullptr;
  PolicyParameters parameters;
  // The canonical name: id, then the parameters that differ from their defaults, sorted
  // ("fixed:level=2").
  [[nodiscard]] std::string name() const;
};

// "fixed:level=2,other=x". Refuses an unknown policy or parameter (naming the nearest), a repeated
// or missing one.
[[nodiscard]] Result<PolicySpec> parse_policy(std::string_view text);

[[nodiscard]] Result<std::unique_ptr<Policy>> make_policy(const PolicySpec& spec,
                                                          std::span<const LevelInfo> levels);

// The index of a level by id ("cachegen-released@2"), or by its level name ("2") where only one
// codec has it.
[[nodiscard]] Result<std::int32_t> find_level(std::string_view name,
                                              std::span<const LevelInfo> levels);

}  // namespace sluice
