// Files made by hand for the trace tests, and rates with their unit in the name.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "traces/read.h"

namespace sluice::testing {

inline DataRate mbit(std::int64_t n) {
  return DataRate::bits_per_sec(n * 1'000'000);
}

// A folder of one test, gone when it ends.
class TraceFolder {
 public:
  TraceFolder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("sluice_" + std::string(test->test_suite_name()) + "_" + test->name() + "_" +
               std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~TraceFolder() { std::filesystem::remove_all(folder_); }
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;

  [[nodiscard]] std::filesystem::path path(std::string_view name) const { return folder_ / name; }
  // A new file each time: some file systems flush to disk when one is overwritten.
  std::filesystem::path write(std::string_view name, std::string_view text) const {
    std::filesystem::remove(path(name));
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Reads text as if it stood in a file of that name.
inline Result<std::vector<LinkTrace>> read_text(std::string_view text,
                                                const ReadOptions& options = {},
                                                std::string_view name = "trace") {
  const TraceFolder folder;
  return read_traces(folder.write(name, text), options);
}

// The one trace of a text that must be sound; an empty trace (and a failure) otherwise.
inline LinkTrace read_one(std::string_view text, const ReadOptions& options = {},
                          std::string_view name = "trace") {
  const auto traces = read_text(text, options, name);
  if (!traces) {
    ADD_FAILURE() << traces.error().to_line();
    return {};
  }
  EXPECT_EQ(traces->size(), 1U);
  return traces->front();
}

// The error line of a text that must not be read, its folder cut off; empty (and a failure)
// otherwise.
inline std::string error_of(std::string_view text, const ReadOptions& options = {},
                            std::string_view name = "trace") {
  const auto traces = read_text(text, options, name);
  if (traces.ok()) {
    ADD_FAILURE() << "was read: " << text.substr(0, 80);
    return {};
  }
  Error error = traces.error();
  if (error.file.find('/') != std::string::npos)
    error.file = std::filesystem::path(error.file).filename();
  return error.to_line();
}

inline ReadOptions with_reader(std::string reader) {
  ReadOptions options;
  options.reader = std::move(reader);
  return options;
}

// For test suites over all registered readers.
inline std::vector<std::string> reader_ids() {
  std::vector<std::string> ids;
  for (const ReaderSummary& reader : list_readers()) ids.push_back(reader.id);
  return ids;
}
inline std::string case_name(const ::testing::TestParamInfo<std::string>& param) {
  std::string name = param.param;
  std::erase(name, '-');
  return name;
}

}  // namespace sluice::testing
