// Namespaces that isolate and leave nothing behind; commands that end with their owner.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "emu/host/child_process.h"
#include "emu/host/cpu_use.h"
#include "emu/host/lateness.h"
#include "emu/host/namespace.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::size_t count_open_files() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool reaches(std::uint16_t port) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = loopback(port);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

// Whether a process has `marker` in its environment.
bool lives(const std::string& marker) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    if (text.find(marker) != std::string::npos) return true;
  }
  return false;
}

bool becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 200; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(25ms);
  }
  return false;
}

class Namespaces : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = why_no_namespaces()) GTEST_SKIP() << *missing;
  }
};

TEST_F(Namespaces, HoldASocketThatOthersDoNotSee) {
  const Result<NetworkNamespace> space = NetworkNamespace::make();
  ASSERT_TRUE(space) << space.error().to_line();
  Descriptor server;
  std::uint16_t port = 0;
  ASSERT_TRUE(space->run([&]() -> Status {
    server = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(server.get(), 1), 0);
    EXPECT_EQ(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port = ntohs(address.sin_port);
    EXPECT_TRUE(reaches(port));  // its loopback is up
    return {};
  }));
  EXPECT_FALSE(reaches(port));
}

TEST_F(Namespaces, GiveEachConnectionRoomFor3GbitPerSecondTimes40Ms) {
  const Result<NetworkNamespace> space = NetworkNamespace::make();
  ASSERT_TRUE(space);
  std::int64_t least = 0, usual = 0, most = 0;
  ASSERT_TRUE(space->run([&]() -> Status {
    std::ifstream("/proc/sys/net/ipv4/tcp_rmem") >> least >> usual >> most;
    return {};
  }));
  EXPECT_EQ(most, 64 << 20);
}

TEST_F(Namespaces, LeaveNothingBehind) {
  { (void)NetworkNamespace::make(); }
  const std::size_t before = count_open_files();
  for (int i = 0; i < 20; ++i) {
    const Result<NetworkNamespace> space = NetworkNamespace::make();
    ASSERT_TRUE(space);
  }
  EXPECT_EQ(count_open_files(), before);
}

TEST_F(Namespaces, HandBackTheErrorOfTheirJob) {
  const Result<NetworkNamespace> space = NetworkNamespace::make();
  ASSERT_TRUE(space);
  const Status done = space->run([]() -> Status { return error_in("here", "broken", "mend it"); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().to_line(), "error: here: broken; mend it");
}

TEST_F(Namespaces, HoldCommands) {
  const Result<NetworkNamespace> space = NetworkNamespace::make();
  ASSERT_TRUE(space);
  // A new namespace knows no interface but loopback.
  Result<ChildProcess> child = ChildProcess::start(
      {.words = {"sh", "-c", "test $(tail -n +3 /proc/net/dev | wc -l) -eq 1"}, .space = &*space});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->wait(), 0);
}

int code_of(const std::string& script) {
  Result<ChildProcess> child = ChildProcess::start({.words = {"sh", "-c", script}});
  EXPECT_TRUE(child) << child.error().to_line();
  return child->wait();
}

TEST(Commands, GiveTheirExitCodeOr128AndTheSignal) {
  EXPECT_EQ(code_of("exit 0"), 0);
  EXPECT_EQ(code_of("exit 42"), 42);
  EXPECT_EQ(code_of("kill -TERM $$"), 128 + 15);
  EXPECT_EQ(code_of("kill -KILL $$"), 128 + 9);
}

TEST(Commands, ThatDoNotExistAreAnError) {
  const Result<ChildProcess> child = ChildProcess::start({.words = {"no-such-program"}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().to_line(),
            "error: no-such-program: cannot be started: No such file or directory; name a program "
            "that can be run");
}

TEST(Commands, SeeTheVariablesGivenToThem) {
  Result<ChildProcess> child = ChildProcess::start(
      {.words = {"sh", "-c", "test \"$SLUICE_PEER\" = 10.0.0.2 && test -n \"$PATH\""},
       .environment = {{"SLUICE_PEER", "10.0.0.2"}}});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->wait(), 0);
}

TEST(Commands, GetTheSignalsPassedOn) {
  Result<ChildProcess> child =
      ChildProcess::start({.words = {"sh", "-c", "trap 'exit 7' INT; while :; do sleep 0.01; done"},
                           .environment = {{"SLUICE_TEST_MARKER", "passed-on"}}});
  ASSERT_TRUE(child);
  for (int i = 0; i < 500 && !child->poll(); ++i) {  // again, until its trap is set
    std::this_thread::sleep_for(10ms);
    child->send(SIGINT);
  }
  EXPECT_TRUE(child->poll() == 7 || child->poll() == 128 + SIGINT);
}

TEST(Commands, KeepNoDescriptorOfOurs) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // not close-on-exec
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  Result<ChildProcess> child = ChildProcess::start({.words = {"sleep", "60"}});
  ASSERT_TRUE(child);
  in.reset();
  char byte = 0;
  EXPECT_EQ(::read(out.get(), &byte, 1), 0);  // nobody else holds the writing end
}

TEST(Commands, EndWithAllTheirDescendants) {
  const std::string marker = "SLUICE_TEST_MARKER=descendants-" + std::to_string(::getpid());
  Result<ChildProcess> child = ChildProcess::start(
      {.words = {"sh", "-c", "setsid sleep 60 & setsid sh -c 'sleep 60 & sleep 60' & sleep 60"},
       .environment = {{"SLUICE_TEST_MARKER", "descendants-" + std::to_string(::getpid())}}});
  ASSERT_TRUE(child);
  ASSERT_TRUE(becomes_true([&] { return lives(marker); }));
  child->kill();
  EXPECT_FALSE(lives(marker));
  EXPECT_EQ(child->poll(), 128 + SIGKILL);
}

TEST(Commands, EndWhatTheyLeaveBehind) {
  const std::string value = "left-" + std::to_string(::getpid());
  Result<ChildProcess> child =
      ChildProcess::start({.words = {"sh", "-c", "setsid sleep 60 & exit 3"},
                           .environment = {{"SLUICE_TEST_MARKER", value}}});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->wait(), 3);
  EXPECT_FALSE(lives("SLUICE_TEST_MARKER=" + value));
}

TEST(Commands, EndWhenTheirOwnerIsKilled) {
  const std::string value = "owner-" + std::to_string(::getpid());
  const pid_t owner = ::fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    const Result<ChildProcess> child =
        ChildProcess::start({.words = {"sh", "-c", "setsid sleep 60 & sleep 60"},
                             .environment = {{"SLUICE_TEST_MARKER", value}}});
    ::pause();
    ::_exit(child ? 0 : 1);
  }
  ASSERT_TRUE(becomes_true([&] { return lives("SLUICE_TEST_MARKER=" + value); }));
  ::kill(owner, SIGKILL);
  ASSERT_EQ(::waitpid(owner, nullptr, 0), owner);
  EXPECT_TRUE(becomes_true([&] { return !lives("SLUICE_TEST_MARKER=" + value); }));
}

TEST(Lateness, QuantilesAreWithinAnEighth) {
  LatenessHistogram histogram;
  for (int us = 1; us <= 100; ++us) histogram.record(std::chrono::microseconds{us});
  EXPECT_EQ(histogram.count(), 100);
  EXPECT_EQ(histogram.max(), 100us);
  EXPECT_GE(histogram.quantile(0.5), 50us);
  EXPECT_LE(histogram.quantile(0.5), 57us);
  EXPECT_EQ(histogram.quantile(1.0), 100us);
  EXPECT_EQ(LatenessHistogram().quantile(0.99), Duration::zero());
}

TEST(Lateness, OfTimersIsMeasuredByTheirClock) {
  TimerLateness timers(1ms);
  std::this_thread::sleep_for(50ms);
  const LatenessHistogram& histogram = timers.stop();
  EXPECT_GT(histogram.count(), 0);
  EXPECT_LE(histogram.count(), 60);
  EXPECT_LE(histogram.quantile(0.5), histogram.max());
}

TEST(CpuUse, CountsOurOwnWork) {
  const CpuSampler sampler;
  const auto until = std::chrono::steady_clock::now() + 200ms;
  while (std::chrono::steady_clock::now() < until) continue;
  const CpuUse use = sampler.since_start();
  EXPECT_GT(use.own, 0);
  EXPECT_GT(use.busy, 0);
  EXPECT_LE(use.busy, 1);
}

}  // namespace
}  // namespace sluice
