#include "traces/plot/workload_shape.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr double kBinsPerOctave = 64;

std::size_t bin_of(std::int64_t tokens) {
  return static_cast<std::size_t>(
      kBinsPerOctave * std::log2(static_cast<double>(std::max<std::int64_t>(tokens, 1))));
}

// The share of `num_columns` in which position `at` of `total` lies.
std::size_t column_at(std::int64_t at, std::int64_t total, std::size_t num_columns) {
  const auto column = static_cast<std::size_t>(
      detail::Wide{at} * static_cast<std::int64_t>(num_columns) / std::max<std::int64_t>(total, 1));
  return std::min(column, num_columns - 1);
}

// Takes a request's length into its column; the mean is that of `count` requests then.
void take_in(double tokens, std::int64_t count, std::optional<ColumnValues>& column) {
  if (!column) column = ColumnValues{tokens, tokens, 0};
  column->lowest = std::min(column->lowest, tokens);
  column->highest = std::max(column->highest, tokens);
  column->mean += (tokens - column->mean) / static_cast<double>(count);
}

}  // namespace

void LengthShares::add(std::int64_t tokens) {
  Bin& bin = bins_[bin_of(tokens)];
  ++bin.count;
  bin.highest = std::max(bin.highest, tokens);
  ++count_;
}

std::vector<SharePoint> LengthShares::points() const {
  std::vector<SharePoint> points;
  std::int64_t passed = 0;
  for (const Bin& bin : bins_) {
    if (bin.count == 0) continue;
    passed += bin.count;
    points.push_back({static_cast<double>(bin.highest),
                      static_cast<double>(passed) / static_cast<double>(count_)});
  }
  return points;
}

std::int64_t LengthShares::quantile(double fraction) const {
  std::int64_t passed = 0, highest = 0;
  for (const Bin& bin : bins_) {
    if (bin.count == 0) continue;
    passed += bin.count;
    highest = bin.highest;
    if (static_cast<double>(passed) >= fraction * static_cast<double>(count_)) break;
  }
  return highest;
}

Result<WorkloadShape> shape_of_workload(const std::filesystem::path& path,
                                        const WorkloadOptions& options, std::size_t num_columns) {
  Result<WorkloadSummary> summary = summarise_workload(path, options);
  if (!summary) return summary.error();
  WorkloadShape shape{std::move(*summary),
                      std::vector<std::int64_t>(num_columns),
                      std::vector<std::optional<ColumnValues>>(num_columns),
                      {},
                      {},
                      {}};
  if (shape.summary.duration)
    shape.length = std::max<Duration>(*shape.summary.duration, std::chrono::seconds{1});
  Result<WorkloadReader> reader = WorkloadReader::open(path, options);
  if (!reader) return reader.error();
  for (std::int64_t index = 0;; ++index) {
    const auto request = reader->next();
    if (!request) return request.error();
    if (!*request) return shape;
    const std::size_t column = shape.length
                                   ? column_at(to_ns((*request)->arrival.value_or(Duration{})),
                                               to_ns(*shape.length), num_columns)
                                   : column_at(index, shape.summary.num_requests, num_columns);
    ++shape.requests[column];
    take_in(static_cast<double>((*request)->input_tokens), shape.requests[column],
            shape.input_tokens[column]);
    shape.input.add((*request)->input_tokens);
    if ((*request)->output_tokens) shape.output.add(*(*request)->output_tokens);
  }
}

}  // namespace sluice
