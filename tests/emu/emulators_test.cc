// The table of emulators, the kernel's shaper and the relay inside the process, with real TCP.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "emu/host/descriptor.h"
#include "emu/link/emulated_link.h"
#include "emu/link/kernel/rate_steps.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

LinkTrace trace_of(std::vector<RateStep> steps, Duration length, TraceEnd end = TraceEnd::kHold) {
  LinkTrace trace;
  trace.name = "test";
  trace.end = end;
  trace.length = length;
  trace.steps = std::move(steps);
  return trace;
}

DataRate mbit(std::int64_t n) {
  return DataRate::bits_per_sec(n * 1'000'000);
}

EmulatedLinkSpec constant_link(DataRate rate, Duration delay = 0ms) {
  LinkSpec link;
  link.capacity = trace_of({{0ms, rate}}, 1s);
  link.delay = delay;
  return {.down = link, .up = link};
}

sockaddr_in address_of(const std::string& text, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  return address;
}

Descriptor socket_in(const NetworkNamespace* space) {
  Descriptor made;
  const auto make = [&]() -> Status {
    made = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return {};
  };
  EXPECT_TRUE(space ? space->run(make) : make());
  return made;
}

// What came of `size` bytes that a server at the far end sent to a client at the near end, and how
// long it took from the client's connect to the last byte.
struct Download {
  std::string bytes;
  Duration first{}, all{};
};

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 2654435761U >> 13);
  return text;
}

void serve_once(int listening, const std::string& bytes) {
  const Descriptor client(::accept(listening, nullptr, nullptr));
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(client.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

Download download(EmulatedLink& link, std::size_t size) {
  const Descriptor server = socket_in(link.far_end().space);
  sockaddr_in here = address_of(link.far_end().space ? link.far_end().address : "127.0.0.1", 0);
  socklen_t length = sizeof here;
  EXPECT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&here), length), 0);
  EXPECT_EQ(::listen(server.get(), 1), 0);
  EXPECT_EQ(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&here), &length), 0);
  const Result<std::uint16_t> port = link.relay_to(ntohs(here.sin_port));
  EXPECT_TRUE(port);
  const std::string sent = pattern(size);
  std::thread serving([&] { serve_once(server.get(), sent); });
  const Descriptor client = socket_in(link.near_end().space);
  const sockaddr_in there = address_of(link.far_end().address, *port);
  const auto began = Clock::now();
  Download got;
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  std::vector<char> buffer(1 << 16);
  for (ssize_t n = 0; (n = ::recv(client.get(), buffer.data(), buffer.size(), 0)) > 0;) {
    if (got.bytes.empty()) got.first = Clock::now() - began;
    got.bytes.append(buffer.data(), static_cast<std::size_t>(n));
  }
  got.all = Clock::now() - began;
  ::shutdown(server.get(), SHUT_RDWR);
  serving.join();
  EXPECT_EQ(got.bytes, sent);
  return got;
}

TEST(Emulators, AreFoundByNameAndSaySoWhereThereIsNone) {
  const auto spec = constant_link(mbit(100));
  const auto process = choose_emulator("process", spec);
  ASSERT_TRUE(process);
  EXPECT_STREQ((*process)->id, "process");
  const auto typo = choose_emulator("proces", spec);
  ASSERT_FALSE(typo);
  EXPECT_THAT(typo.error().to_line(), HasSubstr("no emulator `proces`"));
}

TEST(Emulators, SaySoWhenTheyCannotLose) {
  auto spec = constant_link(mbit(100));
  spec.down.loss = RandomLoss{0.01};
  const auto process = choose_emulator("process", spec);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().to_line(),
            "error: process: it relays bytes and loses none; use --emulator tun, which needs "
            "namespaces");
}

TEST(Emulators, RefuseTracesClockedByChunks) {
  auto spec = constant_link(mbit(100));
  spec.down.capacity.clock = TraceClock::kChunk;
  spec.down.capacity.length = 0ms;
  for (const LinkEmulator& emulator : link_emulators())
    EXPECT_FALSE(emulator.check(spec)) << emulator.id;
}

TEST(RateSteps, FollowATraceThatChangesSlowly) {
  LinkSpec link;
  link.capacity = trace_of({{0ms, mbit(10)}, {100ms, mbit(30)}}, 200ms, TraceEnd::kLoop);
  const RateSteps steps(link, 20ms);
  EXPECT_EQ(steps.rate(kRunStart), mbit(10));
  EXPECT_EQ(steps.next(kRunStart), kRunStart + 100ms);
  EXPECT_EQ(steps.rate(kRunStart + 100ms), mbit(30));
  EXPECT_EQ(steps.next(kRunStart + 100ms), kRunStart + 200ms);
}

TEST(RateSteps, AverageATraceThatChangesEveryMillisecond) {
  LinkSpec link;
  link.capacity = trace_of({{0ms, mbit(12)}, {1ms, mbit(0)}}, 2ms, TraceEnd::kLoop);
  const RateSteps steps(link, 20ms);
  EXPECT_EQ(steps.rate(kRunStart), mbit(6));
  EXPECT_EQ(steps.next(kRunStart), kRunStart + 20ms);
  EXPECT_EQ(steps.capacity_until(kRunStart + 20ms), DataSize::bytes(15'000));
}

TEST(RateSteps, EndWithATraceThatHolds) {
  LinkSpec link;
  link.capacity = trace_of({{0ms, mbit(12)}}, 1s);
  EXPECT_EQ(RateSteps(link, 20ms).next(kRunStart), std::nullopt);
}

// The relay and the kernel's shaper carry the same bytes at the same rate.
class LinkOf : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<EmulatedLink> open(const EmulatedLinkSpec& spec) {
    const auto emulator = choose_emulator(GetParam(), spec);
    if (!emulator) return nullptr;
    auto link = (*emulator)->open(spec);
    EXPECT_TRUE(link) << link.error().to_line();
    return link ? std::move(*link) : nullptr;
  }
  void SetUp() override {
    const auto able = choose_emulator(GetParam(), constant_link(mbit(10)));
    if (!able) GTEST_SKIP() << able.error().to_line();
  }
};

TEST_P(LinkOf, CarriesNoFasterThanItsRate) {
  const auto link = open(constant_link(mbit(20)));
  ASSERT_TRUE(link);
  // 1 MB and its headers at 20 Mbit/s take 0.41 s; a millisecond's worth may come early.
  const Download got = download(*link, 1'000'000);
  EXPECT_GE(got.all, 390ms);
  EXPECT_LE(got.all, 5s);
  const LinkUsage usage = link->usage_down();
  EXPECT_GE(usage.wire_delivered, DataSize::bytes(1'000'000));
  EXPECT_GE(usage.capacity, DataSize::bytes(1'000'000));
  EXPECT_TRUE(link->began_at());
}

TEST_P(LinkOf, StopsInAnOutageAndGoesOnAfterIt) {
  auto spec = constant_link(mbit(50));
  spec.down.capacity = trace_of({{0ms, mbit(50)}, {40ms, mbit(0)}, {640ms, mbit(50)}}, 2s);
  const auto link = open(spec);
  ASSERT_TRUE(link);
  // Until the outage 40 ms carry 250 kB of the 2 MB, which take 320 ms: a host may be late for it.
  const Download got = download(*link, 2'000'000);
  EXPECT_GE(got.all, 640ms);
  EXPECT_LE(got.all, 5s);
}

TEST_P(LinkOf, TakesAnotherRateWhenRearmed) {
  const auto link = open(constant_link(mbit(100)));
  ASSERT_TRUE(link);
  download(*link, 10'000);
  ASSERT_TRUE(link->rearm(constant_link(mbit(10))));
  EXPECT_FALSE(link->began_at());
  EXPECT_GE(download(*link, 500'000).all, 380ms);  // 400 ms and headers
}

INSTANTIATE_TEST_SUITE_P(Emulators, LinkOf, testing::Values("kernel", "process"),
                         [](const auto& of) { return std::string(of.param); });

TEST(ProcessLink, DelaysBothWays) {
  const auto spec = constant_link(mbit(100), 50ms);
  const auto link = choose_emulator("process", spec).value()->open(spec);
  ASSERT_TRUE(link);
  EXPECT_GE(download(**link, 1000).first, 50ms);  // the server speaks first: one way
}

TEST(ProcessLink, NeedsNoNamespace) {
  const auto spec = constant_link(mbit(100));
  const auto link = choose_emulator("process", spec).value()->open(spec);
  ASSERT_TRUE(link);
  EXPECT_EQ((*link)->near_end().space, nullptr);
  EXPECT_EQ((*link)->far_end().space, nullptr);
}

}  // namespace
}  // namespace sluice
