// What a workload trace holds, taken in one pass.
// Where in the flow: `sluice trace inspect`, and the scenario that replays a trace.
// Surprise: counting repeated blocks needs the ids seen so far; past a limit of memory the counts
// are given up rather than guessed.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "traces/workload/workload_trace.h"

namespace sluice {

struct TokenCounts {
  std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = 0;
  double sum = 0;
};

struct WorkloadSummary {
  std::string reader, sha256;
  std::int64_t num_requests = 0;
  std::optional<Duration> duration;   // first to last request; absent when the file has no times
  std::int64_t num_same_arrival = 0;  // requests at the very time of the one before
  TokenCounts input;
  std::optional<TokenCounts> output;
  std::optional<std::int64_t> block_tokens;
  std::int64_t num_blocks = 0;
  // Blocks that begin a request and were all seen in earlier ones; absent without blocks, and when
  // there are more different ones than memory is set aside for.
  std::optional<std::int64_t> num_reused_blocks;
  std::vector<SkippedRows> skipped;

  [[nodiscard]] std::int64_t num_skipped() const;
  [[nodiscard]] std::optional<double> block_reuse_fraction() const;
};

// Takes in requests in their order.
class WorkloadStatistics {
 public:
  void add(const WorkloadRequest& request);
  // After the reader gave its last request.
  [[nodiscard]] WorkloadSummary finish(WorkloadReader& reader) &&;

 private:
  void count_blocks(const WorkloadRequest& request);

  WorkloadSummary summary_;
  std::optional<Duration> last_arrival_;
  std::unordered_set<std::uint64_t> seen_;  // only asked whether it holds an id
  std::int64_t num_reused_ = 0;
  bool too_many_blocks_ = false;
};

// Reads the whole file, holding no request.
[[nodiscard]] Result<WorkloadSummary> summarise_workload(const std::filesystem::path& path,
                                                         const WorkloadOptions& options = {});

}  // namespace sluice
