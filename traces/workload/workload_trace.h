// The canonical form of a workload trace: requests one after the other, each with its arrival, its
// lengths and the blocks of its prefix; and the stream that reads them from a file.
// Where in the flow: step 1; the scenario's replay and `sluice trace inspect` read through it.
// Surprises: a file is never held whole (Azure's weeks have tens of millions of rows); the trace
// starts at its first request, whatever clock the file has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "traces/link_trace.h"

namespace sluice {

// More tokens in a request are a slip, never a context.
inline constexpr std::int64_t kMaxRequestTokens = 1'000'000'000;

struct WorkloadRequest {
  // Since the trace's first request; never goes back. Absent when the file has no times: then all
  // requests lack it.
  std::optional<Duration> arrival;
  std::int64_t input_tokens = 0;              // the context; at least one
  std::optional<std::int64_t> output_tokens;  // absent when the file does not say
  // Block i covers the tokens [i, i + 1) * block_tokens of the input. Equal ids at the same place
  // mean that all tokens up to the end of the block are equal. Empty when the file says nothing of
  // prefixes.
  std::vector<std::uint64_t> blocks;
  std::int64_t line = 0;  // in the file, 1-based
};

// What a file does not say itself. An option that the reader has no use for is an error.
struct WorkloadOptions {
  std::optional<std::string> reader;       // id from the table; else found by the first line
  std::optional<std::string> time_unit;    // of the time column: "s", "ms", "us", "ns"
  std::optional<std::string> time_column;  // a header's name, or "none"
  std::optional<std::string> input_column;
  std::optional<std::string> output_column;  // or "none"
  std::optional<std::int64_t> block_tokens;  // tokens per block, where the reader makes the blocks
};

class WorkloadReader {
 public:
  // Errors are one line with file, line where there is one, and fix. Only regular files are read.
  [[nodiscard]] static Result<WorkloadReader> open(const std::filesystem::path& path,
                                                   const WorkloadOptions& options = {});
  WorkloadReader(WorkloadReader&&) noexcept;
  WorkloadReader& operator=(WorkloadReader&&) noexcept;
  ~WorkloadReader();

  // The next request, nullopt after the last. A file without any is an error, as is a malformed
  // row: what cannot be understood is never skipped.
  [[nodiscard]] Result<std::optional<WorkloadRequest>> next();

  [[nodiscard]] std::string_view reader() const;
  // Tokens per prefix block; absent when requests have no blocks, and before the first request.
  [[nodiscard]] std::optional<std::int64_t> block_tokens() const;
  // Rows that were no requests, so far, by reason.
  [[nodiscard]] const std::vector<SkippedRows>& skipped() const;
  // SHA-256 of the file's bytes; call once, after next() gave nullopt.
  [[nodiscard]] std::string sha256();

 private:
  struct State;
  explicit WorkloadReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The reader that the file's first line asks for, and why, for people; nullopt when it looks like
// no workload.
struct WorkloadDetection {
  std::string reader, why;
};
[[nodiscard]] Result<std::optional<WorkloadDetection>> detect_workload(
    const std::filesystem::path& path);

// What people can choose from; `sluice trace list` prints it.
struct WorkloadReaderSummary {
  std::string id, summary;
  std::string times;     // where arrivals come from
  std::string prefixes;  // where blocks come from
};
[[nodiscard]] std::vector<WorkloadReaderSummary> list_workload_readers();

}  // namespace sluice
