#include "policies/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/names.h"
#include "policies/anytime.h"
#include "policies/cachegen_published.h"
#include "policies/cachegen_released.h"
#include "policies/fixed.h"
#include "policies/recompute.h"
#include "policies/seed_ratio.h"

namespace sluice {
namespace {

const std::vector<PolicyEntry>& table() {
  static const std::vector<PolicyEntry> kTable{
      fixed_entry(),
      recompute_entry(),
      seed_ratio_entry(),
      cachegen_released_entry(),
      cachegen_published_entry(),
      anytime_entry(),
  };
  return kTable;
}

void check_no_duplicates(std::span<const PolicyEntry> entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (std::size_t j = i + 1; j < entries.size(); ++j) {
      SLUICE_ASSERT(entries[i].id != entries[j].id, "two policies have the same id");
    }
  }
}

template <typename Entries>
std::vector<std::string> names_of(
    const Entries& entries,
    std::string std::decay_t<decltype(*std::begin(std::declval<Entries>()))>::*name) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.*name);
  return names;
}

Result<const PolicyEntry*> find_entry(std::string_view id) {
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.id == id) return &entry;
  }
  return error_in("--policy", fmt::format("there is no policy `{}`", id),
                  suggest_name(id, names_of(policy_registry(), &PolicyEntry::id)));
}

// One "key=value" into `given`.
Status add_parameter(const PolicyEntry& entry, std::string_view text, PolicyParameters& given) {
  const std::string place = "policy " + entry.id;
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return error_in("--policy", fmt::format("{}: `{}` is not key=value", place, text),
                    "write it as in `fixed:level=2`");
  }
  const std::string key(text.substr(0, equals));
  const auto known = std::find_if(entry.parameters.begin(), entry.parameters.end(),
                                  [&](const PolicyParameter& p) { return p.name == key; });
  if (known == entry.parameters.end()) {
    const auto names = names_of(entry.parameters, &PolicyParameter::name);
    return error_in("--policy", fmt::format("{} has no parameter `{}`", place, key),
                    names.empty() ? "it has none" : suggest_name(key, names));
  }
  if (!given.emplace(key, text.substr(equals + 1)).second) {
    return error_in("--policy", fmt::format("{}: `{}` is given twice", place, key), "give it once");
  }
  return {};
}

}  // namespace

std::span<const PolicyEntry> policy_registry() {
  static const bool checked = (check_no_duplicates(table()), true);
  (void)checked;
  return table();
}

std::string PolicySpec::name() const {
  std::string out = entry->id;
  char separator = ':';
  for (const auto& [key, value] : parameters) {
    const auto known = std::find_if(entry->parameters.begin(), entry->parameters.end(),
                                    [&key = key](const auto& p) { return p.name == key; });
    if (known->default_value == value) continue;
    out += fmt::format("{}{}={}", separator, key, value);
    separator = ',';
  }
  return out;
}

Result<PolicySpec> parse_policy(std::string_view text) {
  const std::size_t colon = text.find(':');
  const Result<const PolicyEntry*> entry = find_entry(text.substr(0, colon));
  if (!entry) return entry.error();
  PolicySpec spec{*entry, {}};
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    if (Status added = add_parameter(**entry, rest.substr(0, comma), spec.parameters); !added)
      return added.error();
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  for (const PolicyParameter& p : (*entry)->parameters) {
    if (spec.parameters.contains(p.name)) continue;
    if (p.default_value.empty()) {
      return error_in("--policy",
                      fmt::format("policy {} needs `{}` ({})", (*entry)->id, p.name, p.sentence),
                      fmt::format("write `{}:{}=...`", (*entry)->id, p.name));
    }
    spec.parameters.emplace(p.name, p.default_value);
  }
  return spec;
}

Result<std::unique_ptr<Policy>> make_policy(const PolicySpec& spec,
                                            std::span<const LevelInfo> levels) {
  return spec.entry->make(spec.parameters, levels);
}

Result<std::int32_t> find_level(std::string_view name, std::span<const LevelInfo> levels) {
  std::vector<std::int32_t> found;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i].id == name) return static_cast<std::int32_t>(i);
    if (levels[i].level == name || levels[i].codec == name)
      found.push_back(static_cast<std::int32_t>(i));
  }
  if (found.size() == 1) return found.front();
  const auto ids = names_of(levels, &LevelInfo::id);
  if (found.empty()) {
    return error_in("--policy", fmt::format("there is no level `{}` in this scenario", name),
                    fmt::format("known: {}", fmt::join(ids, ", ")));
  }
  return error_in("--policy", fmt::format("`{}` names {} levels", name, found.size()),
                  fmt::format("use one of {}", fmt::join(ids, ", ")));
}

}  // namespace sluice
