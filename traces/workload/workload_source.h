// A workload trace that is read again and again from anywhere: what a scenario replays.
// Where in the flow: opened when the scenario is read; every run takes its window of requests.
// Surprise: a small file is held in memory; a large one is read from its beginning for every
// window, so windows near its beginning are quicker.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "traces/workload/summary.h"

namespace sluice {

class WorkloadSource {
 public:
  // Reads the whole file once, and so finds every fault in it.
  [[nodiscard]] static Result<WorkloadSource> open(const std::filesystem::path& path,
                                                   const WorkloadOptions& options);

  [[nodiscard]] const WorkloadSummary& summary() const { return *summary_; }
  // As given, and the reader that was found.
  [[nodiscard]] const WorkloadOptions& options() const { return options_; }
  // `count` requests from the one of this index on, fewer where the file ends. An error when the
  // file is no longer what it was.
  [[nodiscard]] Result<std::vector<WorkloadRequest>> requests(std::int64_t first,
                                                              std::int64_t count) const;
  // Index of the first request at this time or later, their number when there is none. The trace
  // must have arrivals.
  [[nodiscard]] Result<std::int64_t> index_at(Duration time) const;

 private:
  WorkloadSource() = default;
  [[nodiscard]] Status check_unchanged() const;

  std::filesystem::path path_;
  WorkloadOptions options_;
  std::filesystem::file_time_type written_;
  std::uintmax_t num_bytes_ = 0;
  std::shared_ptr<const WorkloadSummary> summary_;
  // All requests, when they are few; shared by the copies of the source.
  std::shared_ptr<const std::vector<WorkloadRequest>> held_;
};

}  // namespace sluice
