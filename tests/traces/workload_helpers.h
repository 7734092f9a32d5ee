// Workload files made by hand for the tests of traces/workload.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/traces/trace_helpers.h"
#include "traces/workload/workload_trace.h"

namespace sluice::testing {

// All that a reader says of one text.
struct WorkloadRead {
  std::string reader, sha256;
  std::optional<std::int64_t> block_tokens;
  std::vector<WorkloadRequest> requests;
  std::vector<SkippedRows> skipped;
};

inline Result<WorkloadRead> read_workload_file(const std::filesystem::path& path,
                                               const WorkloadOptions& options = {}) {
  Result<WorkloadReader> reader = WorkloadReader::open(path, options);
  if (!reader) return reader.error();
  WorkloadRead read;
  while (true) {
    Result<std::optional<WorkloadRequest>> request = reader->next();
    if (!request) return request.error();
    if (!*request) break;
    read.requests.push_back(std::move(**request));
  }
  read.reader = reader->reader();
  read.block_tokens = reader->block_tokens();
  read.skipped = reader->skipped();
  read.sha256 = reader->sha256();
  return read;
}

// What must be read; nothing (and a failure) otherwise.
inline WorkloadRead read_workload(std::string_view text, const WorkloadOptions& options = {}) {
  const TraceFolder folder;
  Result<WorkloadRead> read = read_workload_file(folder.write("trace", text), options);
  if (read) return std::move(*read);
  ADD_FAILURE() << read.error().to_line();
  return {};
}

// The error line of a text that must not be read, its folder cut off.
inline std::string workload_error(std::string_view text, const WorkloadOptions& options = {}) {
  const TraceFolder folder;
  const Result<WorkloadRead> read = read_workload_file(folder.write("trace", text), options);
  if (read.ok()) {
    ADD_FAILURE() << "was read: " << text.substr(0, 80);
    return {};
  }
  Error error = read.error();
  if (error.file.find('/') != std::string::npos)
    error.file = std::filesystem::path(error.file).filename();
  return error.to_line();
}

inline WorkloadOptions workload_reader(std::string reader) {
  WorkloadOptions options;
  options.reader = std::move(reader);
  return options;
}

inline std::vector<std::string> workload_reader_ids() {
  std::vector<std::string> ids;
  for (const WorkloadReaderSummary& reader : list_workload_readers()) ids.push_back(reader.id);
  return ids;
}

}  // namespace sluice::testing
