#include "codec/reducers/registry.h"

#include <fmt/format.h>

#include <set>

#include "base/assert.h"
#include "base/names.h"
#include "codec/reducers/h2o.h"
#include "codec/reducers/prompt_drop.h"
#include "codec/reducers/snapkv.h"
#include "codec/reducers/window.h"

namespace sluice {
namespace {

std::vector<Reducer> make_table() {
  return {
      h2o_reducer(),
      snapkv_reducer(),
      window_reducer(),
      prompt_drop_reducer(),
  };
}

std::vector<Reducer> checked(std::vector<Reducer> table) {
  std::set<std::string> ids;
  for (const Reducer& reducer : table) {
    SLUICE_ASSERT(ids.insert(reducer.info.id).second, "two reducers with one id");
    SLUICE_ASSERT(reducer.info.default_level < reducer.info.levels.size(),
                  "a reducer whose default level does not exist");
    std::set<std::string> levels;
    for (const ReducerLevelInfo& level : reducer.info.levels) {
      SLUICE_ASSERT(levels.insert(level.name).second, "a reducer with two levels of one name");
      SLUICE_ASSERT(level.keep_percent >= 1 && level.keep_percent <= 100,
                    "a reducer that keeps no share of the tokens");
    }
  }
  return table;
}

}  // namespace

std::span<const Reducer> all_reducers() {
  static const std::vector<Reducer> table = checked(make_table());
  return table;
}

Result<const Reducer*> find_reducer(std::string_view id) {
  std::vector<std::string> known;
  for (const Reducer& reducer : all_reducers()) {
    if (reducer.info.id == id) return &reducer;
    known.push_back(reducer.info.id);
  }
  return error_in("--codec", fmt::format("there is no reducer `{}`", id), suggest_name(id, known));
}

Result<std::size_t> find_reducer_level(const Reducer& reducer, std::string_view level) {
  if (level.empty()) return reducer.info.default_level;
  std::vector<std::string> known;
  for (const ReducerLevelInfo& info : reducer.info.levels) {
    if (info.name == level) return known.size();
    known.push_back(info.name);
  }
  return error_in("--level", fmt::format("reducer `{}` has no level `{}`", reducer.info.id, level),
                  suggest_name(level, known));
}

}  // namespace sluice
