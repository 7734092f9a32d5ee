// Several processes, one file: every run is made once, and the result is that of one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "analysis/store/content_hash.h"
#include "analysis/store/worker.h"
#include "tests/analysis/store_fixture.h"

namespace sluice {
namespace {

constexpr std::int64_t kNumRuns = 30;

// The child dies with this process: one that a failed assertion left behind would hold the pipe of
// whoever waits for the tests to end.
pid_t in_child(const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::_exit(work());
}

int exit_code_of(pid_t pid) {
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Works through all runs, taking those that nobody else has. Returns how many it made; 255 after an
// error.
int work(const std::filesystem::path& file) {
  auto store = Store::open(file);
  if (!store) return 255;
  const auto campaign = store->add_campaign(example_campaign());
  int num_made = 0;
  for (std::int64_t replicate = 0; replicate < kNumRuns; ++replicate) {
    const RunKey key = add_key(*store, replicate);
    const auto claim = store->claim(key, *campaign);
    if (!claim) return 255;
    if (*claim != Claim::kOurs) continue;
    if (!store->write_run(key, {}, example_metrics(), example_loads(100, replicate))) return 255;
    ++num_made;
  }
  return num_made;
}

TEST_F(StoreTest, TwoProcessesMakeEachOfThirtyRunsOnceWithTheHashOfOneProcess) {
  const pid_t first = in_child([&] { return work(file()); });
  const pid_t second = in_child([&] { return work(file()); });
  const int made_by_first = exit_code_of(first), made_by_second = exit_code_of(second);
  EXPECT_EQ(made_by_first + made_by_second, kNumRuns) << made_by_first << " and " << made_by_second;
  EXPECT_EQ(work(file("alone.db")), kNumRuns);
  auto together = Store::open_to_read(file());
  auto alone = Store::open_to_read(file("alone.db"));
  ASSERT_TRUE(together.ok() && alone.ok());
  EXPECT_EQ(*content_hash(*together), *content_hash(*alone));
}

TEST_F(StoreTest, AClaimHoldsWhileItsProcessLivesAndIsTakenOverWhenItDied) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  const RunKey key = add_key(*store, 0);
  const auto campaign = store->add_campaign(example_campaign());
  int claimed[2];
  ASSERT_EQ(::pipe(claimed), 0);
  const pid_t holder = in_child([&] {
    auto own = Store::open(file());
    const bool ours = own.ok() && *own->claim(key, *campaign) == Claim::kOurs;
    (void)!::write(claimed[1], &ours, sizeof ours);
    ::pause();
    return 0;
  });
  bool ours = false;
  ASSERT_EQ(::read(claimed[0], &ours, sizeof ours), ssize_t{sizeof ours});
  EXPECT_TRUE(ours);
  EXPECT_EQ(*store->claim(key, *campaign), Claim::kTaken);
  const auto stolen = store->write_run(key, {}, {}, example_loads(1));
  ASSERT_FALSE(stolen.ok());
  EXPECT_THAT(stolen.error().to_line(), testing::HasSubstr("not claimed by this process"));
  ::kill(holder, SIGKILL);
  ASSERT_EQ(::waitpid(holder, nullptr, 0), holder);
  EXPECT_EQ(*store->claim(key, *campaign), Claim::kOurs);
  EXPECT_TRUE(store->write_run(key, {}, {}, example_loads(1)).ok());
  EXPECT_EQ(*store->claim(key, *campaign), Claim::kDone);
}

TEST_F(StoreTest, MissingRunsAreThoseNotDoneInTheOrderAsked) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  const std::vector<RunKey> wanted{add_key(*store, 2), add_key(*store, 0), add_key(*store, 1)};
  write_example(*store, wanted[1]);
  ASSERT_EQ(*store->claim(wanted[2], *store->add_campaign(example_campaign())), Claim::kOurs);
  EXPECT_THAT(*store->missing_runs(wanted), testing::ElementsAre(wanted[0], wanted[2]));
}

TEST_F(StoreTest, AReleasedClaimIsFreeAndADoneRunStays) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  const RunKey key = add_key(*store, 0), done = add_key(*store, 1);
  write_example(*store, done);
  ASSERT_EQ(*store->claim(key, *store->add_campaign(example_campaign())), Claim::kOurs);
  EXPECT_TRUE(store->release(key).ok());
  EXPECT_TRUE(store->release(done).ok());
  EXPECT_EQ(store->read_runs({.done_only = false})->size(), 1u);
}

TEST(Worker, LivesOnlyWithItsOwnStartTimeAndBoot) {
  const std::string self = this_worker();
  EXPECT_TRUE(is_alive(self));
  EXPECT_FALSE(is_alive(self + "0"));  // the same pid, begun at another time
  std::string other_boot = self;
  other_boot[self.find(' ') + 1] = 'x';
  EXPECT_FALSE(is_alive(other_boot));
  EXPECT_FALSE(is_alive(""));
  EXPECT_FALSE(is_alive("host boot ../self 1"));
}

}  // namespace
}  // namespace sluice
