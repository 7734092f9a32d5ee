// The tables of a store, and the steps from each older version to the newest.
// Where in the flow: run once when a store is opened.
#pragma once

#include "analysis/store/database.h"

namespace sluice {

// In SQLite's file header, so that a store is told from any other SQLite file: "SLUC".
inline constexpr std::int64_t kApplicationId = 0x534c5543;

// Makes the tables in an empty file, or brings an older store up to date.
// Refuses a file that is not a store and one made by a newer Sluice, leaving it untouched.
[[nodiscard]] Status migrate(const Database& database);

// The same refusals, for readers: an older version is refused too, since a reader does not change
// the file.
[[nodiscard]] Status require_current_schema(const Database& database);

}  // namespace sluice
