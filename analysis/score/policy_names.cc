#include "analysis/score/policy_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/names.h"

namespace sluice {
namespace {

// "fixed:level=2,k=1" -> {"fixed", "level=2", "k=1"}
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  const std::size_t colon = std::min(name.find(':'), name.size());
  parts.emplace_back(name.substr(0, colon));
  std::string_view rest = name.substr(std::min(colon + 1, name.size()));
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    parts.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return parts;
}

// Same name, and every parameter asked for.
bool matches(const std::vector<std::string>& wanted, const std::vector<std::string>& known) {
  if (wanted.front() != known.front()) return false;
  return std::all_of(wanted.begin() + 1, wanted.end(), [&](const std::string& parameter) {
    return std::find(known.begin() + 1, known.end(), parameter) != known.end();
  });
}

// The nearest of the full names and of the names without parameters.
std::string suggest(std::string_view text, std::span<const std::string> known) {
  std::vector<std::string> short_names;
  for (const std::string& name : known) short_names.push_back(parts_of(name).front());
  if (nearest_name(text, short_names)) return suggest_name(text, short_names);
  return suggest_name(text, known);
}

}  // namespace

Result<std::string> find_policy(std::string_view text, std::span<const std::string> known,
                                const std::string& option) {
  if (std::find(known.begin(), known.end(), text) != known.end()) return std::string(text);
  std::vector<std::string> found;
  const std::vector<std::string> wanted = parts_of(text);
  for (const std::string& name : known) {
    if (matches(wanted, parts_of(name))) found.push_back(name);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return error_in(option, fmt::format("no policy `{}` was run", text), suggest(text, known));
  }
  return error_in(option, fmt::format("`{}` may be any of {}", text, fmt::join(found, ", ")),
                  "add a parameter that tells them apart");
}

Status keep_policies(std::span<const std::string> wanted, ScoreInput& input) {
  if (wanted.empty()) return {};
  const std::vector<std::string> known = policy_names(input);
  std::vector<PolicyInput> kept;
  for (const std::string& text : wanted) {
    const auto name = find_policy(text, known, "--policy");
    if (!name) return name.error();
    const auto at = std::find(known.begin(), known.end(), *name) - known.begin();
    PolicyInput& policy = input.policies[static_cast<std::size_t>(at)];
    // Named before: it has been moved away.
    if (policy.policy.empty()) continue;
    kept.push_back(std::move(policy));
    policy.policy.clear();
  }
  input.policies = std::move(kept);
  return {};
}

std::vector<std::string> policy_names(const ScoreInput& input) {
  std::vector<std::string> names;
  for (const PolicyInput& policy : input.policies) names.push_back(policy.policy);
  return names;
}

}  // namespace sluice
