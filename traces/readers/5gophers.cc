// 5Gophers 1.0 (Narayanan et al., WWW 2020): 5G downlinks of three US carriers, one sample a
// second. Surprise: two kinds of file. Throughput: many runs in one file, a trace for each.
// Driving: the carriers side by side in a row, a trace for each unless --rate-column takes one.
#include <fmt/format.h>

#include <array>

#include "traces/readers/reader.h"
#include "traces/readers/sampled_runs.h"

namespace sluice {
namespace {

constexpr std::string_view kRateColumn = "throughput_mbps";
constexpr std::string_view kRateSuffix = "_throughput_mbps";

Error no_rates(const CsvFile& file) {
  if (file.find("rtt_ms")) {
    return file.error_in_file(
        "round-trip times without rates or seconds are no link trace",
        "use the throughput file, and set the link's delay to half of a round trip");
  }
  return file.error_in_file("no column of rates, such as `throughput_mbps`",
                            "read other files with --reader csv");
}

// Those with the suffix, or the one that is wanted.
Result<std::vector<std::size_t>> carrier_columns(const CsvFile& file,
                                                 const std::optional<std::string>& wanted) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < file.names().size(); ++i) {
    if (!file.names()[i].ends_with(kRateSuffix)) continue;
    if (!wanted || *wanted == file.names()[i]) columns.push_back(i);
  }
  if (!columns.empty()) return columns;
  if (!wanted) return no_rates(file);
  return error_in("--rate-column", fmt::format("`{}` is none of the rates", *wanted),
                  fmt::format("choose a column that ends in `{}`", kRateSuffix));
}

}  // namespace

Result<std::vector<LinkTrace>> read_5gophers(const std::filesystem::path& path,
                                             const ReadOptions& options) {
  Result<CsvFile> file = CsvFile::open(path);
  if (!file) return file.error();
  SampledRuns format;
  format.rate_unit = kMegabits;
  if (file->find(kRateColumn) &&
      options.rate_column.value_or(std::string(kRateColumn)) == kRateColumn) {
    constexpr std::array<std::string_view, 5> kRun{"protocol", "carrier", "server_location",
                                                   "num_tcp_conn", "run_num"};
    for (const std::string_view name : kRun) {
      const Result<std::size_t> column = file->column(name);
      if (!column) return column.error();
      format.key_columns.push_back(*column);
    }
    format.rate_columns.push_back(*file->find(kRateColumn));
  } else {
    Result<std::vector<std::size_t>> columns = carrier_columns(*file, options.rate_column);
    if (!columns) return columns.error();
    format.rate_columns = std::move(*columns);
  }
  const Result<std::size_t> second = file->column("seq_num");
  if (!second) return second.error();
  format.second_column = *second;
  return read_sampled_runs(*file, format, path);
}

}  // namespace sluice
