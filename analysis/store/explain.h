// How a row came about, and the command that makes it again: `./sluice explain --store FILE ROW`.
// Where in the flow: reads the store only; everything it says was stored when the row was made.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/store/store.h"
#include "base/table.h"

namespace sluice {

// "run:12", "load:12/3" or "chunk:12/3/5": run id, load index, chunk index. The word may be left
// out.
struct RowName {
  RunId run;
  std::optional<std::int64_t> load, chunk;
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] Result<RowName> parse_row_name(std::string_view text);

struct Explanation {
  std::string row;
  // What and its value, in reading order: run, scenario, policy, inputs, build, host, result, load.
  std::vector<std::pair<std::string, std::string>> facts;
  // With the chunks to tell of: all of the load, or the one asked for.
  std::optional<LoadRecord> load;
  std::string command;  // one line for a shell
};

[[nodiscard]] Result<Explanation> explain(Store& store, const RowName& row);

// For people; as CSV the chunks, or a run's facts; as JSON everything, times in ns of the run.
void print_as(TableFormat format, const Explanation& explanation, std::ostream& out);

}  // namespace sluice
