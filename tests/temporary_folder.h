// A folder of this test process alone: ctest runs the cases of one program side by side, so a fixed
// name in the shared temporary folder would be written by two at once.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace sluice {

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::path(testing::TempDir()) /
              ("sluice-test-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Made at the first call, removed when the process ends.
inline const std::filesystem::path& temporary_folder() {
  static const TemporaryFolder folder;
  return folder.path();
}

}  // namespace sluice
