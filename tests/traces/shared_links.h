// The real public traces of ../shared/data/links, which are never copied into the project.
#pragma once

#include <gtest/gtest.h>

#include "tests/traces/trace_helpers.h"

namespace sluice::testing {

inline std::filesystem::path shared_links() {
  return std::filesystem::path(SLUICE_SOURCE_DIR) / ".." / "shared" / "data" / "links";
}

// Tests that say loudly when the traces are absent.
class SharedLinksFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(shared_links())) {
      GTEST_SKIP() << "no real traces: " << shared_links()
                   << " is absent; the readers are tested on traces made by hand only";
    }
  }
  static std::vector<LinkTrace> read_all(const std::string& file, const ReadOptions& options = {}) {
    auto traces = read_traces(shared_links() / file, options);
    if (!traces) {
      ADD_FAILURE() << traces.error().to_line();
      return {LinkTrace{.steps = {RateStep{}}}};
    }
    return std::move(*traces);
  }
  static LinkTrace read(const std::string& file, const ReadOptions& options = {}) {
    return read_all(file, options).front();
  }
};

}  // namespace sluice::testing
