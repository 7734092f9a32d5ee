#include "traces/workload/workload_source.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

namespace fs = std::filesystem;

// About 150 MB at most: 64 bytes a request, 8 a block.
constexpr std::size_t kMaxHeldRequests = 1'000'000;
constexpr std::size_t kMaxHeldBlocks = 10'000'000;

// Keeps requests until there are too many.
class Keeper {
 public:
  void add(WorkloadRequest request) {
    if (given_up_) return;
    num_blocks_ += request.blocks.size();
    requests_.push_back(std::move(request));
    given_up_ = requests_.size() > kMaxHeldRequests || num_blocks_ > kMaxHeldBlocks;
    if (given_up_) requests_ = {};
  }
  [[nodiscard]] std::shared_ptr<const std::vector<WorkloadRequest>> take() {
    if (given_up_) return nullptr;
    return std::make_shared<const std::vector<WorkloadRequest>>(std::move(requests_));
  }

 private:
  std::vector<WorkloadRequest> requests_;
  std::size_t num_blocks_ = 0;
  bool given_up_ = false;
};

}  // namespace

Result<WorkloadSource> WorkloadSource::open(const fs::path& path, const WorkloadOptions& options) {
  Result<WorkloadReader> reader = WorkloadReader::open(path, options);
  if (!reader) return reader.error();
  WorkloadSource source;
  source.path_ = path;
  source.options_ = options;
  source.options_.reader = reader->reader();
  std::error_code code;
  source.written_ = fs::last_write_time(path, code);
  source.num_bytes_ = fs::file_size(path, code);
  WorkloadStatistics statistics;
  Keeper keeper;
  while (true) {
    Result<std::optional<WorkloadRequest>> request = reader->next();
    if (!request) return request.error();
    if (!*request) break;
    statistics.add(**request);
    keeper.add(std::move(**request));
  }
  source.summary_ = std::make_shared<const WorkloadSummary>(std::move(statistics).finish(*reader));
  source.held_ = keeper.take();
  return source;
}

Status WorkloadSource::check_unchanged() const {
  std::error_code code;
  if (fs::last_write_time(path_, code) == written_ && fs::file_size(path_, code) == num_bytes_)
    return {};
  return error_in(path_.string(), "has changed since the scenario was read", "start again");
}

Result<std::vector<WorkloadRequest>> WorkloadSource::requests(std::int64_t first,
                                                              std::int64_t count) const {
  if (held_) {
    const auto begin = std::min(static_cast<std::size_t>(first), held_->size());
    const auto end = std::min(begin + static_cast<std::size_t>(count), held_->size());
    return std::vector(held_->begin() + static_cast<std::ptrdiff_t>(begin),
                       held_->begin() + static_cast<std::ptrdiff_t>(end));
  }
  if (Status same = check_unchanged(); !same) return same.error();
  Result<WorkloadReader> reader = WorkloadReader::open(path_, options_);
  if (!reader) return reader.error();
  std::vector<WorkloadRequest> window;
  for (std::int64_t index = 0; index < first + count; ++index) {
    Result<std::optional<WorkloadRequest>> request = reader->next();
    if (!request) return request.error();
    if (!*request) break;
    if (index >= first) window.push_back(std::move(**request));
  }
  return window;
}

Result<std::int64_t> WorkloadSource::index_at(Duration time) const {
  if (held_) {
    const auto found =
        std::lower_bound(held_->begin(), held_->end(), time,
                         [](const WorkloadRequest& r, Duration t) { return *r.arrival < t; });
    return static_cast<std::int64_t>(found - held_->begin());
  }
  Result<WorkloadReader> reader = WorkloadReader::open(path_, options_);
  if (!reader) return reader.error();
  for (std::int64_t index = 0;; ++index) {
    const auto request = reader->next();
    if (!request) return request.error();
    if (!*request || *(*request)->arrival >= time) return index;
  }
}

}  // namespace sluice
