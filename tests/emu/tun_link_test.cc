// The TUN link with the kernel's own TCP and UDP at its ends. Needs namespaces.
#include "emu/link/tun/tun_link.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <filesystem>
#include <thread>
#include <vector>

#include "tests/net/net_fixture.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using net_test::constant;
using net_test::mbps;
using std::chrono::steady_clock;

EmulatedLinkSpec spec_of(DataRate rate, Duration delay) {
  EmulatedLinkSpec spec;
  spec.down.name = "down";
  spec.up.name = "up";
  for (LinkSpec* link : {&spec.down, &spec.up}) {
    link->capacity = constant(rate);
    link->delay = delay;
  }
  return spec;
}

sockaddr_in address_of(const LinkEnd& end, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, end.address.c_str(), &address.sin_addr);
  return address;
}

Descriptor socket_in(const LinkEnd& end, int type) {
  Descriptor made;
  const Status done = end.space->run([&]() -> Status {
    made = Descriptor(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
    return {};
  });
  EXPECT_TRUE(done.ok() && made);
  const timeval limit{20, 0};  // nothing here waits for longer
  ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  return made;
}

Descriptor bound(const LinkEnd& end, int type, std::uint16_t port) {
  Descriptor socket = socket_in(end, type);
  const sockaddr_in address = address_of(end, port);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return socket;
}

bool connect_to(const Descriptor& socket, const LinkEnd& end, std::uint16_t port) {
  const sockaddr_in address = address_of(end, port);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

char byte_at(std::size_t position) {
  return static_cast<char>(position * 2654435761U >> 13);
}

// Sends `size` bytes over TCP from the far end to the near one; how many came as they were sent.
std::size_t transfer(const EmulatedLink& link, std::size_t size) {
  const Descriptor listener = bound(link.far_end(), SOCK_STREAM, 5201);
  ::listen(listener.get(), 1);
  std::thread sender([&] {
    const Descriptor socket(::accept(listener.get(), nullptr, nullptr));
    std::vector<char> sent(size);
    for (std::size_t i = 0; i < size; ++i) sent[i] = byte_at(i);
    for (std::size_t done = 0; done < size;) {
      const ssize_t now = ::send(socket.get(), sent.data() + done, size - done, MSG_NOSIGNAL);
      if (now <= 0) return;
      done += static_cast<std::size_t>(now);
    }
  });
  const Descriptor socket = socket_in(link.near_end(), SOCK_STREAM);
  EXPECT_TRUE(connect_to(socket, link.far_end(), 5201));
  std::vector<char> block(1 << 16);
  std::size_t good = 0;
  for (ssize_t got = 1; got > 0;) {
    got = ::recv(socket.get(), block.data(), block.size(), 0);
    for (ssize_t i = 0; i < got; ++i, ++good) {
      if (block[static_cast<std::size_t>(i)] != byte_at(good)) got = 0;
    }
  }
  sender.join();
  return good;
}

// From the far end to the near one; how long the datagram took, nullopt if it did not come.
std::optional<Duration> datagram(const EmulatedLink& link) {
  const Descriptor receiver = bound(link.near_end(), SOCK_DGRAM, 5202);
  const Descriptor sender = socket_in(link.far_end(), SOCK_DGRAM);
  EXPECT_TRUE(connect_to(sender, link.near_end(), 5202));
  std::array<char, 1000> data{};
  const auto sent_at = steady_clock::now();
  EXPECT_EQ(::send(sender.get(), data.data(), data.size(), 0), 1000);
  pollfd event{receiver.get(), POLLIN, 0};
  if (::poll(&event, 1, 500) != 1) return std::nullopt;
  return steady_clock::now() - sent_at;
}

std::ptrdiff_t count_open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

class TunLink : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = why_no_namespaces()) GTEST_SKIP() << *missing;
  }
  static std::unique_ptr<EmulatedLink> open(const EmulatedLinkSpec& spec) {
    auto link = open_tun_link(spec);
    EXPECT_TRUE(link.ok()) << link.error().to_line();
    return std::move(link).value();
  }
};

TEST_F(TunLink, TcpArrivesWholeAtTheRateOfTheLink) {
  const auto link = open(spec_of(mbps(200), 2ms));
  const auto began = steady_clock::now();
  EXPECT_EQ(transfer(*link, 5'000'000), 5'000'000U);
  EXPECT_GT(steady_clock::now() - began, 200ms) << "40 Mbit at 200 Mbit/s";
  const LinkUsage usage = link->usage_down();
  EXPECT_GT(usage.wire_delivered, DataSize::bytes(5'000'000 + 3453 * 52)) << "a header per 1448";
  EXPECT_EQ(usage.wire_sent, usage.wire_delivered + usage.wire_dropped + usage.wire_in_flight);
  EXPECT_GT(link->health().num_packets, 0);
  EXPECT_EQ(link->health().num_host_drops, 0);
}

TEST_F(TunLink, TcpArrivesWholeThroughLossJitterAndASmallQueue) {
  EmulatedLinkSpec spec = spec_of(mbps(500), 1ms);
  spec.down.loss = RandomLoss{0.005};
  spec.down.jitter = 1ms;
  spec.down.queue.limit = DataSize::bytes(100'000);
  const auto link = open(spec);
  EXPECT_EQ(transfer(*link, 5'000'000), 5'000'000U);
  EXPECT_GT(link->usage_down().wire_dropped, DataSize::zero());
}

TEST_F(TunLink, TcpArrivesWholeThroughCoDelAndSmallPackets) {
  EmulatedLinkSpec spec = spec_of(mbps(100), 1ms);
  spec.down.queue.discipline = CoDel{};
  spec.down.mtu = spec.up.mtu = DataSize::bytes(576);
  EXPECT_EQ(transfer(*open(spec), 2'000'000), 2'000'000U);
}

TEST_F(TunLink, ADatagramTakesTheDelayAndBeginsTheSchedule) {
  const auto link = open(spec_of(mbps(1000), 20ms));
  EXPECT_FALSE(link->began_at());
  const auto took = datagram(*link);
  ASSERT_TRUE(took);
  EXPECT_GE(*took, 20ms);
  EXPECT_LT(*took, 200ms);
  ASSERT_TRUE(link->began_at());
  EXPECT_EQ(link->usage_down().wire_delivered, DataSize::bytes(1028)) << "IPv4 and UDP: 28";
  EXPECT_EQ(link->usage_up().wire_sent, DataSize::zero());
}

TEST_F(TunLink, RearmForgetsWhatWasOnTheWay) {
  EmulatedLinkSpec outage = spec_of(mbps(0), 0ms);
  const auto link = open(outage);
  EXPECT_FALSE(datagram(*link)) << "an outage without end";
  EXPECT_EQ(link->usage_down().wire_in_flight, DataSize::bytes(1028));
  ASSERT_TRUE(link->rearm(spec_of(mbps(100), 0ms)).ok());
  EXPECT_FALSE(link->began_at());
  EXPECT_EQ(link->usage_down().wire_sent, DataSize::zero());
  EXPECT_TRUE(datagram(*link));
  EXPECT_EQ(link->usage_down().wire_sent, DataSize::bytes(1028));
}

TEST_F(TunLink, NothingIsLeftBehind) {
  open(spec_of(mbps(100), 0ms));  // what the first one opens once for all
  const std::ptrdiff_t before = count_open_files();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(datagram(*open(spec_of(mbps(100), 0ms))));
  EXPECT_EQ(count_open_files(), before);
}

TEST(TunLinkCheck, RefusesATraceClockedByChunksAndTooSmallAnMtu) {
  EmulatedLinkSpec spec = spec_of(mbps(100), 0ms);
  spec.up.capacity = net_test::by_chunk({mbps(1)}, TraceEnd::kHold);
  EXPECT_THAT(check_tun_link(spec).error().to_line(), testing::HasSubstr("up: its trace"));
  spec = spec_of(mbps(100), 0ms);
  spec.down.mtu = DataSize::bytes(60);
  EXPECT_THAT(check_tun_link(spec).error().to_line(),
              testing::HasSubstr("an MTU below the 68 bytes"));
}

}  // namespace
}  // namespace sluice
