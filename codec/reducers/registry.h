// The table of reducers: one line per reducer in registry.cc.
// Where in the flow: codec/registry.h finds `int8+h2o` here.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "codec/reducers/reducer.h"

namespace sluice {

// All reducers, in the order of the table. A duplicate id or level, or a reducer without levels,
// aborts at the first call.
[[nodiscard]] std::span<const Reducer> all_reducers();

// By id. The error names the nearest known reducer.
[[nodiscard]] Result<const Reducer*> find_reducer(std::string_view id);
// Index of a level, or of the default one where `level` is empty. The error names the nearest.
[[nodiscard]] Result<std::size_t> find_reducer_level(const Reducer& reducer,
                                                     std::string_view level);

}  // namespace sluice
