// A store as CSV for other tools: `./sluice store export --out DIR`.
#pragma once

#include <filesystem>

#include "analysis/store/store.h"

namespace sluice {

// Writes runs.csv, loads.csv and chunks.csv (RFC 4180, units in the column names, empty where
// absent) for all done runs into `folder`, which is made when absent. Each file appears whole or
// not at all.
[[nodiscard]] Status export_csv(Store& store, const std::filesystem::path& folder);

}  // namespace sluice
