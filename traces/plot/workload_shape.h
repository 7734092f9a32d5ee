// A workload file reduced to what a picture shows: requests and their lengths per pixel column, and
// how the lengths are distributed.
// Where in the flow: under workload_plot.cc.
// Surprise: the file is read twice, for its length and for its columns, and never held.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "traces/plot/panel.h"
#include "traces/workload/summary.h"

namespace sluice {

// Lengths in tokens, counted in bins a 64th of an octave wide; shares at the bins' highest members
// are exact.
class LengthShares {
 public:
  void add(std::int64_t tokens);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  // At least one length was added.
  [[nodiscard]] std::vector<SharePoint> points() const;
  // The lowest length known not to be passed by `fraction` (0..1) of them; at most 1.1 % too high.
  [[nodiscard]] std::int64_t quantile(double fraction) const;

 private:
  struct Bin {
    std::int64_t count = 0, highest = 0;
  };
  std::array<Bin, 64 * 64> bins_{};  // by 64 times the binary logarithm
  std::int64_t count_ = 0;
};

struct WorkloadShape {
  WorkloadSummary summary;
  std::vector<std::int64_t> requests;                     // per column
  std::vector<std::optional<ColumnValues>> input_tokens;  // per request, per column
  LengthShares input, output;
  // What the columns divide: the time from the first request to the last, at least a second; or the
  // requests, when the file has no times.
  std::optional<Duration> length;
};

// Errors are those of the reader.
[[nodiscard]] Result<WorkloadShape> shape_of_workload(const std::filesystem::path& path,
                                                      const WorkloadOptions& options,
                                                      std::size_t num_columns);

}  // namespace sluice
