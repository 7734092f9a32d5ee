// Files that are no store, damaged or out of reach: one line that says so, and nothing changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "analysis/store/check.h"
#include "analysis/store/content_hash.h"
#include "analysis/store/database.h"
#include "base/files.h"
#include "base/random.h"
#include "tests/analysis/store_fixture.h"

namespace sluice {
namespace {

using testing::HasSubstr;

// The error of opening, which is one line and names the file.
std::string refusal(const std::filesystem::path& file) {
  const auto store = Store::open(file);
  EXPECT_FALSE(store.ok());
  if (store.ok()) return {};
  const std::string line = store.error().to_line();
  EXPECT_THAT(line, HasSubstr(file.string()));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  return line;
}

TEST_F(StoreTest, ATextFileIsRefusedAndStaysAsItIs) {
  const std::string text = "arrived,bytes\n" + std::string(5000, '1');
  ASSERT_TRUE(write_file_atomically(file("notes.csv"), text).ok());
  EXPECT_THAT(refusal(file("notes.csv")), HasSubstr("not a Sluice store"));
  EXPECT_EQ(*read_file(file("notes.csv")), text);
}

TEST_F(StoreTest, AnotherProgramsDatabaseIsRefusedAndStaysAsItIs) {
  {
    const auto other = Database::open(file("other.db"), OpenMode::kCreate);
    ASSERT_TRUE(other.ok() && other->execute("CREATE TABLE contacts (name TEXT)").ok());
  }
  const std::string before = *read_file(file("other.db"));
  EXPECT_THAT(refusal(file("other.db")), HasSubstr("not a Sluice store"));
  EXPECT_EQ(*read_file(file("other.db")), before);
}

TEST_F(StoreTest, AStoreOfANewerVersionIsRefused) {
  { ASSERT_TRUE(Store::open(file()).ok()); }
  {
    const auto raw = Database::open(file(), OpenMode::kExisting);
    ASSERT_TRUE(raw.ok() && raw->execute("PRAGMA user_version = 99").ok());
  }
  EXPECT_THAT(refusal(file()),
              testing::AllOf(HasSubstr("version 99"), HasSubstr("use a newer Sluice")));
  EXPECT_FALSE(Store::open_to_read(file()).ok());
}

TEST_F(StoreTest, AFolderAndAMissingFileAreRefused) {
  EXPECT_THAT(refusal(folder_), HasSubstr("is a folder"));
  EXPECT_THAT(refusal(folder_ / "missing" / "runs.db"), HasSubstr("folder exists"));
  EXPECT_THAT(Store::open_to_read(file("typo.db")).error().to_line(), HasSubstr("no such file"));
  EXPECT_FALSE(std::filesystem::exists(file("typo.db")));
}

TEST_F(StoreTest, AFolderThatCannotBeWrittenIsRefused) {
  EXPECT_THAT(refusal("/proc/runs.db"), HasSubstr("writable"));  // even root cannot write there
  const auto locked = folder_ / "locked";
  {
    ASSERT_TRUE(std::filesystem::create_directory(locked) && Store::open(locked / "runs.db").ok());
  }
  ::chmod((locked / "runs.db").c_str(), 0444);
  ::chmod(locked.c_str(), 0555);
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0)
      ::_exit(2);  // root may write anywhere; nobody may not
    auto store = Store::open(locked / "runs.db");
    ::_exit(!store.ok() && store.error().to_line().find("error: ") == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ::chmod(locked.c_str(), 0755);
}

TEST_F(StoreTest, DamageAnywhereIsAnErrorOrAFindingOrAnotherValueAndNeverACrash) {
  {
    auto store = Store::open(file());
    ASSERT_TRUE(store.ok());
    write_example(*store, add_key(*store, 0), 50);
  }
  const std::string whole = *read_file(file());
  RandomStream random(3);
  int num_noticed = 0;
  for (int trial = 0; trial < 150; ++trial) {
    std::string damaged = whole;
    if (trial % 3 == 0) {
      damaged.resize(random.below(whole.size()));
    } else {
      const std::size_t at = random.below(whole.size() - 64);
      for (std::size_t i = 0; i < 64; ++i) damaged[at + i] = static_cast<char>(random.next_u64());
    }
    ASSERT_TRUE(write_file_atomically(file("damaged.db"), damaged).ok());
    auto store = Store::open_to_read(file("damaged.db"));
    if (!store) {
      ++num_noticed;
      continue;
    }
    const auto findings = check_store(*store);
    if (!findings || !findings->empty()) ++num_noticed;
    (void)content_hash(*store);
    (void)store->read_loads({});
  }
  EXPECT_GE(num_noticed, 50);  // every truncation, which loses whole pages
}

TEST_F(StoreTest, AValueThatCannotBeStoredFailsTheRunAndLeavesNoRow) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  const RunKey key = add_key(*store, 0);
  ASSERT_EQ(*store->claim(key, *store->add_campaign(example_campaign())), Claim::kOurs);
  auto loads = example_loads(3);
  loads[2].quality = std::numeric_limits<double>::quiet_NaN();
  const auto failed = store->write_run(key, {}, {}, loads);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().to_line(), HasSubstr("load.quality"));
  EXPECT_EQ(store->database().find_integer("SELECT count(*) FROM load")->value_or(-1), 0);
  loads[2].quality = 1;
  const auto again =
      store->write_run(key, {}, {}, loads);  // the texts of the failed try are written anew
  ASSERT_TRUE(again.ok()) << again.error().to_line();
  expect_same(loads, *store->read_records(*again));
}

TEST_F(StoreTest, TwoLoadsOfOneIndexAreRefused) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  const RunKey key = add_key(*store, 0);
  ASSERT_EQ(*store->claim(key, *store->add_campaign(example_campaign())), Claim::kOurs);
  auto loads = example_loads(2);
  loads[1].index = 0;
  EXPECT_FALSE(store->write_run(key, {}, {}, loads).ok());
  EXPECT_EQ(store->missing_runs(std::vector{key})->size(), 1u);
}

TEST_F(StoreTest, AReaderCannotWrite) {
  { ASSERT_TRUE(Store::open(file()).ok()); }
  auto store = Store::open_to_read(file());
  ASSERT_TRUE(store.ok());
  EXPECT_THAT(store->add_policy({.name = "p"}).error().to_line(), HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace sluice
