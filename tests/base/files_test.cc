// Files that are none: folders, devices, pipes, links. Nothing is half-written, hangs, or is
// replaced that was no file.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "base/files.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class SpecialFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("sluice-files-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::size_t num_entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(SpecialFiles, APipeIsNotReadSinceItMayNeverEnd) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(read_file(pipe).error().to_line(), HasSubstr("is not a regular file"));
  EXPECT_THAT(read_file("/dev/zero").error().to_line(), HasSubstr("is not a regular file"));
}

TEST_F(SpecialFiles, APipeIsWrittenToAndStaysAPipe) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(write_file_atomically(pipe, "hello").ok());
  char came[8] = {};
  EXPECT_EQ(::read(reader, came, sizeof came), 5);
  EXPECT_STREQ(came, "hello");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(num_entries(), 1);
}

TEST_F(SpecialFiles, AFullDeviceIsAnErrorAndStaysADevice) {
  const fs::path link = folder_ / "full";  // by a link, so that a fault here cannot harm the device
  fs::create_symlink("/dev/full", link);
  EXPECT_THAT(write_file_atomically(link, "x").error().to_line(), HasSubstr("writing failed"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::is_character_file(link));
}

TEST_F(SpecialFiles, ALinkStaysALinkAndItsFileIsReplaced) {
  std::ofstream(folder_ / "file") << "old";
  fs::create_symlink("file", folder_ / "link");
  ASSERT_TRUE(write_file_atomically(folder_ / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(*read_file(folder_ / "file"), "new");
}

TEST_F(SpecialFiles, LinksInACircleAreAnErrorAndNothingIsWritten) {
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  EXPECT_FALSE(read_file(folder_ / "a").ok());
  EXPECT_FALSE(write_file_atomically(folder_ / "a", "x").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "a"));
}

TEST_F(SpecialFiles, AWriterThatGivesUpLeavesNothing) {
  const auto write = [](std::ostream& out) {
    out << "half";
    throw std::runtime_error("no more");
  };
  EXPECT_THROW((void)write_file_atomically(folder_ / "file", write), std::runtime_error);
  EXPECT_EQ(num_entries(), 0);
}

TEST_F(SpecialFiles, AFolderIsNamedAsSuch) {
  EXPECT_THAT(write_file_atomically(folder_, "x").error().to_line(), HasSubstr("is a folder"));
  EXPECT_THAT(read_file(folder_).error().to_line(), HasSubstr("is a folder"));
}

}  // namespace
}  // namespace sluice
