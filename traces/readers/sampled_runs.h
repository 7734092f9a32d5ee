// CSV files of many runs, each sampled once a second: a row has what names its run, the second
// within the run, and one rate or several.
// Where in the flow: under the readers 5gophers and lumos5g-raw.
// Surprise: a second that is missing takes the rate of the one before it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "traces/link_trace.h"
#include "traces/readers/csv_file.h"
#include "traces/readers/numbers.h"

namespace sluice {

struct SampledRuns {
  std::vector<std::size_t> key_columns;  // name the run, in this order
  std::size_t second_column = 0;         // whole numbers that go up within a run
  std::vector<std::size_t> rate_columns;
  NumberUnit rate_unit{};
};

// The runs of all rows that are left in `file`, in the order in which they begin, named
// KEY/KEY/...; of several rates in a row, a trace for each column, named by it. Kind, unit and hash
// are filled in.
[[nodiscard]] Result<std::vector<LinkTrace>> read_sampled_runs(CsvFile& file,
                                                               const SampledRuns& format,
                                                               const std::filesystem::path& path);

}  // namespace sluice
