#include "traces/workload/summary.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t kMaxSeenBlocks = 4'000'000;  // about 200 MB

void count(TokenCounts& counts, std::int64_t tokens) {
  counts.min = std::min(counts.min, tokens);
  counts.max = std::max(counts.max, tokens);
  counts.sum += static_cast<double>(tokens);
}

}  // namespace

std::int64_t WorkloadSummary::num_skipped() const {
  std::int64_t sum = 0;
  for (const SkippedRows& rows : skipped) sum += rows.count;
  return sum;
}

std::optional<double> WorkloadSummary::block_reuse_fraction() const {
  if (!num_reused_blocks) return std::nullopt;
  return static_cast<double>(*num_reused_blocks) / static_cast<double>(num_blocks);
}

void WorkloadStatistics::add(const WorkloadRequest& request) {
  ++summary_.num_requests;
  if (request.arrival && request.arrival == last_arrival_) ++summary_.num_same_arrival;
  last_arrival_ = request.arrival;
  count(summary_.input, request.input_tokens);
  if (request.output_tokens) {
    if (!summary_.output) summary_.output.emplace();
    count(*summary_.output, *request.output_tokens);
  }
  count_blocks(request);
}

void WorkloadStatistics::count_blocks(const WorkloadRequest& request) {
  summary_.num_blocks += static_cast<std::int64_t>(request.blocks.size());
  if (too_many_blocks_) return;
  bool leading = true;
  for (const std::uint64_t id : request.blocks) {
    const bool is_new = seen_.insert(id).second;
    leading = leading && !is_new;
    if (leading) ++num_reused_;
  }
  if (seen_.size() <= kMaxSeenBlocks) return;
  too_many_blocks_ = true;
  seen_ = {};
}

WorkloadSummary WorkloadStatistics::finish(WorkloadReader& reader) && {
  summary_.reader = reader.reader();
  summary_.sha256 = reader.sha256();
  summary_.duration = last_arrival_;
  summary_.block_tokens = reader.block_tokens();
  summary_.skipped = reader.skipped();
  if (summary_.num_blocks > 0 && !too_many_blocks_) summary_.num_reused_blocks = num_reused_;
  return std::move(summary_);
}

Result<WorkloadSummary> summarise_workload(const std::filesystem::path& path,
                                           const WorkloadOptions& options) {
  Result<WorkloadReader> reader = WorkloadReader::open(path, options);
  if (!reader) return reader.error();
  WorkloadStatistics statistics;
  while (true) {
    const auto request = reader->next();
    if (!request) return request.error();
    if (!*request) return std::move(statistics).finish(*reader);
    statistics.add(**request);
  }
}

}  // namespace sluice
