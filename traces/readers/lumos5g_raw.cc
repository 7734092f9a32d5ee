// Lumos5G 1.0 as published (Narayanan et al., IMC 2020): 19 columns, a row per second of a run on
// foot or in a car; iPerf's TCP throughput in Mbit/s.
// Surprise: run numbers begin again for each mobility mode and direction, so all three name a run.
#include <array>

#include "traces/readers/reader.h"
#include "traces/readers/sampled_runs.h"

namespace sluice {

Result<std::vector<LinkTrace>> read_lumos5g_raw(const std::filesystem::path& path,
                                                const ReadOptions&) {
  Result<CsvFile> file = CsvFile::open(path);
  if (!file) return file.error();
  constexpr std::array<std::string_view, 5> kColumns{
      "run_num", "mobility_mode", "trajectory_direction", "seq_num", "Throughput"};
  std::array<std::size_t, kColumns.size()> at{};
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const Result<std::size_t> column = file->column(kColumns[i]);
    if (!column) return column.error();
    at[i] = *column;
  }
  const SampledRuns format{.key_columns = {at[0], at[1], at[2]},
                           .second_column = at[3],
                           .rate_columns = {at[4]},
                           .rate_unit = kMegabits};
  return read_sampled_runs(*file, format, path);
}

}  // namespace sluice
