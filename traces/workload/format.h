// The contract of a workload format, and the table of all of them.
// Where in the flow: WorkloadReader picks one by id or by the file's first line, and hands it the
// lines.
// Surprise: a format knows lines only; order, ranges, line numbers and the hash are the reader's.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "traces/workload/workload_trace.h"

namespace sluice {

// What the lines of a file come to.
class WorkloadRows {
 public:
  // `request.arrival` is on the file's own clock; `request.line` is set by the reader.
  void add(WorkloadRequest request) { requests_.push_back(std::move(request)); }
  // The row is no request; `why` completes "N rows skipped: ...".
  void skip(std::string_view why) { skipped_ = why; }

  [[nodiscard]] std::vector<WorkloadRequest>& requests() { return requests_; }
  [[nodiscard]] std::string_view skipped() const { return skipped_; }
  void clear() {
    requests_.clear();
    skipped_ = {};
  }

 private:
  std::vector<WorkloadRequest> requests_;
  std::string_view skipped_;  // texts of the formats, which live on
};

class WorkloadFormat {
 public:
  virtual ~WorkloadFormat() = default;
  // One line that is not empty. Errors have no place.
  [[nodiscard]] virtual Status read(std::string_view line, WorkloadRows& rows) = 0;
  [[nodiscard]] virtual std::optional<std::int64_t> block_tokens() const { return std::nullopt; }
};

using MadeFormat = Result<std::unique_ptr<WorkloadFormat>>;

struct WorkloadFormatInfo {
  std::string_view id;
  std::string_view summary;
  std::string_view times;     // for people
  std::string_view prefixes;  // for people
  bool has_header;            // the first line names columns
  bool takes_columns;         // WorkloadOptions::time_unit and the three columns
  bool takes_block_tokens;
  // `header` is the first line, or empty without has_header. Errors have no place, or an option as
  // their place.
  MadeFormat (*make)(std::string_view header, const WorkloadOptions& options);
  // What in a first line tells it apart, for people; empty: it does not.
  std::string_view (*sign)(std::string_view first_line);
};

// In the order in which `list` shows them.
[[nodiscard]] std::span<const WorkloadFormatInfo> workload_formats();
[[nodiscard]] Result<const WorkloadFormatInfo*> find_workload_format(std::string_view id);

// The formats themselves, one file each.
[[nodiscard]] MadeFormat make_mooncake(std::string_view header, const WorkloadOptions& options);
[[nodiscard]] MadeFormat make_azure_llm(std::string_view header, const WorkloadOptions& options);
[[nodiscard]] MadeFormat make_burstgpt(std::string_view header, const WorkloadOptions& options);
[[nodiscard]] MadeFormat make_vidur(std::string_view header, const WorkloadOptions& options);
[[nodiscard]] MadeFormat make_splitwise_sim(std::string_view header,
                                            const WorkloadOptions& options);
[[nodiscard]] MadeFormat make_llmservingsim(std::string_view header,
                                            const WorkloadOptions& options);
[[nodiscard]] MadeFormat make_workload_csv(std::string_view header, const WorkloadOptions& options);

}  // namespace sluice
