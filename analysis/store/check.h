// Is the file whole, and are its rows possible? `./sluice store check`.
#pragma once

#include <string>
#include <vector>

#include "analysis/store/store.h"

namespace sluice {

struct Finding {
  std::string row;   // as `explain` takes it ("load:12/3"), or a table, or empty for the file
  std::string what;  // the rule that is broken
};

// SQLite's own checks of the file and of foreign keys, then the rules of check.cc. Empty when all
// is well; of each rule the first few rows that break it.
[[nodiscard]] Result<std::vector<Finding>> check_store(Store& store);

}  // namespace sluice
