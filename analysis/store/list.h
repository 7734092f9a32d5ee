// What a store holds, as a table: `./sluice store list`.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/store/store.h"
#include "base/table.h"

namespace sluice {

struct Listing {
  Table table;
  nlohmann::json json;  // a list of objects with the table's columns
};

// One row per scenario, policy, tier and seed: how many runs are done and claimed, loads,
// violations.
[[nodiscard]] Result<Listing> list_groups(Store& store);
// One row per run, with the id that `explain` takes.
[[nodiscard]] Result<Listing> list_runs(Store& store);

}  // namespace sluice
