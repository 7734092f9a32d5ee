// Killed at any moment, a writer leaves whole runs; what it had claimed is made by the next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "analysis/store/check.h"
#include "analysis/store/content_hash.h"
#include "base/random.h"
#include "tests/analysis/store_fixture.h"

namespace sluice {
namespace {

constexpr std::int64_t kNumRuns = 120;
constexpr std::int64_t kLoadsPerRun = 200;

// Claims and writes every run that is missing, as the runner does; tells `progress` each replicate
// it committed.
void make_missing_runs(const std::filesystem::path& file, int progress) {
  auto store = Store::open(file);
  ASSERT_TRUE(store.ok()) << store.error().to_line();
  std::vector<RunKey> wanted;
  for (std::int64_t replicate = 0; replicate < kNumRuns; ++replicate)
    wanted.push_back(add_key(*store, replicate));
  const auto missing = store->missing_runs(wanted);
  ASSERT_TRUE(missing.ok());
  for (const RunKey& key : *missing) {
    write_example(*store, key, kLoadsPerRun, key.replicate);
    ASSERT_EQ(::write(progress, &key.replicate, sizeof key.replicate),
              ssize_t{sizeof key.replicate});
  }
}

struct Child {
  pid_t pid = 0;
  int progress = -1;
};

Child start_writer(const std::filesystem::path& file) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    make_missing_runs(file, ends[1]);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  ::close(ends[1]);
  return {pid, ends[0]};
}

// The next replicate that the child committed; nullopt when it has ended.
std::optional<std::int64_t> next_committed(const Child& child) {
  std::int64_t replicate = 0;
  const ssize_t size = ::read(child.progress, &replicate, sizeof replicate);
  if (size != ssize_t{sizeof replicate}) return std::nullopt;
  return replicate;
}

struct Found {
  std::vector<std::int64_t> done;  // replicates
  int num_claimed = 0;             // begun, not done
};

// The runs in the file, which must be sound.
Found look_into(const std::filesystem::path& file) {
  auto store = Store::open_to_read(file);
  EXPECT_TRUE(store.ok()) << store.error().to_line();
  const auto findings = check_store(*store);
  EXPECT_TRUE(findings.ok()) << findings.error().to_line();
  for (const Finding& finding : *findings) ADD_FAILURE() << finding.row << ": " << finding.what;
  const auto runs = store->read_runs({.done_only = false});
  EXPECT_TRUE(runs.ok());
  Found found;
  for (const RunRow& run : *runs) {
    if (run.done) {
      EXPECT_EQ(run.num_loads, kLoadsPerRun);
      found.done.push_back(run.replicate);
    } else {
      ++found.num_claimed;
    }
  }
  return found;
}

TEST_F(StoreTest, AWriterKilledInTheMiddleLosesNoCommittedRunAndTheResumedStoreHasTheSameHash) {
  RandomStream random(1);
  std::vector<std::int64_t> committed;
  int num_interrupted = 0;
  for (int kill_number = 0; kill_number < 12; ++kill_number) {
    const Child child = start_writer(file());
    const auto first = next_committed(child);  // it is at work now
    if (first) ::usleep(static_cast<useconds_t>(random.below(5000)));
    ::kill(child.pid, SIGKILL);
    ASSERT_EQ(::waitpid(child.pid, nullptr, 0), child.pid);
    if (first) committed.push_back(*first);
    while (const auto next = next_committed(child)) committed.push_back(*next);
    ::close(child.progress);
    const Found found = look_into(file());
    num_interrupted += found.num_claimed;
    EXPECT_THAT(found.done, testing::IsSupersetOf(committed));
  }
  EXPECT_GE(num_interrupted, 1) << "no kill met a run in the making";
  const Child last = start_writer(file());
  while (next_committed(last)) {
  }
  int status = 0;
  ASSERT_EQ(::waitpid(last.pid, &status, 0), last.pid);
  EXPECT_EQ(status, 0);
  ::close(last.progress);
  EXPECT_EQ(look_into(file()).done.size(), std::size_t{kNumRuns});

  const Child undisturbed = start_writer(file("undisturbed.db"));
  ASSERT_EQ(::waitpid(undisturbed.pid, &status, 0), undisturbed.pid);
  ::close(undisturbed.progress);
  auto killed_store = Store::open_to_read(file());
  auto whole_store = Store::open_to_read(file("undisturbed.db"));
  ASSERT_TRUE(killed_store.ok() && whole_store.ok());
  EXPECT_EQ(*content_hash(*killed_store), *content_hash(*whole_store));
}

}  // namespace
}  // namespace sluice
