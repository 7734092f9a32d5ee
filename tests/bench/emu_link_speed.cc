// How true the TUN link is: goodput of one TCP stream against the header-corrected ideal, how soon
// a step of the rate is felt, how true its delay is. Measures, asserts nothing; needs namespaces.
// Usage: emu_link_speed [goodput|step|delay [SECONDS [GBIT/S MS]]]   (default: all, 3 seconds)
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "emu/host/descriptor.h"
#include "emu/link/tun/tun_link.h"
#include "tests/bench/process_usage.h"

namespace sluice {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kHeader = 52;  // IPv4, TCP, timestamps

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

void must(bool ok, const char* what) {
  if (!ok) stop(fmt::format("{}: {}", what, std::strerror(errno)));
}

DataRate gbps(double rate) {
  return DataRate::bits_per_sec(std::llround(rate * 1000) * 1'000'000);
}

LinkSpec link_of(std::vector<RateStep> steps, Duration length, Duration delay) {
  LinkSpec link;
  link.capacity.name = "bench";
  link.capacity.length = length;
  link.capacity.steps = std::move(steps);
  link.delay = delay;
  return link;
}

std::unique_ptr<EmulatedLink> open_link(LinkSpec down, LinkSpec up) {
  down.name = "down";
  up.name = "up";
  auto link = open_tun_link({std::move(down), std::move(up), 1});
  if (!link) stop(link.error().to_line());
  return std::move(link).value();
}

Descriptor socket_in(const LinkEnd& end, int type) {
  Descriptor made;
  const Status done = end.space->run([&]() -> Status {
    made = Descriptor(::socket(AF_INET, type, 0));
    return {};
  });
  must(done.ok() && made, "socket");
  return made;
}

sockaddr_in address_of(const LinkEnd& end) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(5201);
  ::inet_pton(AF_INET, end.address.c_str(), &address.sin_addr);
  return address;
}

const sockaddr* raw(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// One TCP stream from the far end to the near one, as fast as it goes.
class Stream {
 public:
  explicit Stream(const EmulatedLink& link) {
    Descriptor listener = socket_in(link.far_end(), SOCK_STREAM);
    const sockaddr_in address = address_of(link.far_end());
    must(::bind(listener.get(), raw(address), sizeof(address)) == 0, "bind");
    must(::setsockopt(listener.get(), IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) == 0, "cubic");
    must(::listen(listener.get(), 1) == 0, "listen");
    socket_ = socket_in(link.near_end(), SOCK_STREAM);
    sender_ = std::thread([listener = std::move(listener)] {
      const Descriptor socket(::accept(listener.get(), nullptr, nullptr));
      const std::vector<char> block(256 << 10);
      while (::send(socket.get(), block.data(), block.size(), MSG_NOSIGNAL) > 0) {
      }
    });
    must(::connect(socket_.get(), raw(address), sizeof(address)) == 0, "connect");
  }
  ~Stream() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    socket_.reset();
    sender_.join();
  }
  // Until `until`; told (time, bytes) of each read.
  template <typename OnRead>
  void receive(steady_clock::time_point until, OnRead&& on_read) {
    while (true) {
      const ssize_t size = ::recv(socket_.get(), block_.data(), block_.size(), 0);
      const auto now = steady_clock::now();
      if (size <= 0 || now >= until) return;
      on_read(now, size);
    }
  }

 private:
  Descriptor socket_;
  std::thread sender_;
  std::vector<char> block_ = std::vector<char>(256 << 10);
};

double load_average() {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  return load;
}

void goodput(double rate, int delay_ms, double seconds) {
  const LinkSpec both =
      link_of({{Duration{}, gbps(rate)}}, milliseconds{1000}, milliseconds{delay_ms});
  const double load = load_average();
  const auto link = open_link(both, both);
  Stream stream(*link);
  const auto warm = steady_clock::now() + milliseconds{1500};
  stream.receive(warm, [](auto, auto) {});
  std::int64_t bytes = 0;
  auto last = warm;
  const double cpu = processor_seconds();
  const auto until = warm + milliseconds{static_cast<int>(seconds * 1000)};
  stream.receive(until, [&](auto now, ssize_t size) {
    bytes += size;
    last = now;
  });
  const double took = std::chrono::duration<double>(last - warm).count();
  const double ideal = rate * (1500 - kHeader) / 1500,
               got = static_cast<double>(bytes) * 8 / took / 1e9;
  const LinkHealth health = link->health();
  fmt::print(
      "{:5.1f} {:9} {:9.4f} {:9.4f} {:+8.2f} {:6.2f} {:8.0f} {:8.0f} {:8.0f} {:8.4f} {:6} "
      "{:5.2f}\n",
      rate, delay_ms, got, ideal, 100 * (got / ideal - 1), (processor_seconds() - cpu) / took,
      to_ms(health.lateness_p50) * 1000, to_ms(health.lateness_p99) * 1000,
      to_ms(health.lateness_max) * 1000, health.achieved_share, health.num_host_drops, load);
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

// What had come by when, straight between two reads.
struct Received {
  std::vector<double> ms, bytes;
  double by(double at) const {
    const auto after = std::upper_bound(ms.begin(), ms.end(), at) - ms.begin();
    if (after == 0 || after == static_cast<std::ptrdiff_t>(ms.size())) return NAN;
    const auto i = static_cast<std::size_t>(after);
    return bytes[i - 1] + (bytes[i] - bytes[i - 1]) * (at - ms[i - 1]) / (ms[i] - ms[i - 1]);
  }
};

// The first moment after a step from which on 2 ms carry what the new rate says, within 10 %.
double response_ms(const Received& received, double step_ms, double bytes_per_ms) {
  for (double late = 0; late < 40; late += 0.05) {
    const double from = step_ms + late;
    const double share = (received.by(from + 2) - received.by(from)) / 2 / bytes_per_ms;
    if (std::abs(share - 1) <= 0.1) return late;
  }
  return 40;
}

void step(double low, double high, double seconds) {
  const Duration half = milliseconds{20}, delay = milliseconds{5};
  LinkSpec down = link_of({{Duration{}, gbps(high)}, {half, gbps(low)}}, half * 2, delay);
  const auto link = open_link(down, link_of({{Duration{}, gbps(high)}}, half, delay));
  Received received;
  double bytes = 0;
  {
    Stream stream(*link);
    const auto began = *link->began_at();
    stream.receive(
        steady_clock::now() + milliseconds{static_cast<int>(seconds * 1000) + 1000},
        [&](auto now, ssize_t size) {
          bytes += static_cast<double>(size);
          received.ms.push_back(std::chrono::duration<double, std::milli>(now - began).count());
          received.bytes.push_back(bytes);
        });
  }
  std::array<std::vector<double>, 2> responses;  // up, down
  for (int i = 40; (i + 1) * to_ms(half) < received.ms.back() - 50; ++i) {
    const double rate = i % 2 == 0 ? high : low;
    responses[static_cast<std::size_t>(i % 2)].push_back(response_ms(
        received, i * to_ms(half) + to_ms(delay), rate * 125'000 * (1500 - kHeader) / 1500));
  }
  for (std::size_t i = 0; i < 2; ++i)
    fmt::print(
        "step {:4} {:.1f}/{:.1f} Gbit/s: {} steps, p50 {:.2f} ms, p95 {:.2f} ms, max {:.2f} ms; "
        "load {:.2f}\n",
        i == 0 ? "up" : "down", low, high, responses[i].size(), quantile(responses[i], 0.5),
        quantile(responses[i], 0.95), quantile(responses[i], 1), load_average());
}

void delay(int delay_ms, double seconds) {
  const LinkSpec both =
      link_of({{Duration{}, gbps(1)}}, milliseconds{1000}, milliseconds{delay_ms});
  const auto link = open_link(both, both);
  const Descriptor receiver = socket_in(link->near_end(), SOCK_DGRAM);
  const Descriptor sender = socket_in(link->far_end(), SOCK_DGRAM);
  const sockaddr_in to = address_of(link->near_end());
  must(::bind(receiver.get(), raw(to), sizeof(to)) == 0, "bind");
  const int num = static_cast<int>(seconds * 200);
  std::thread sending([&] {
    std::array<char, 1200> packet{};
    for (int i = 0; i < num; ++i) {
      std::this_thread::sleep_for(milliseconds{5});
      const std::int64_t now = steady_clock::now().time_since_epoch().count();
      std::memcpy(packet.data(), &now, sizeof(now));
      must(::sendto(sender.get(), packet.data(), packet.size(), 0, raw(to), sizeof(to)) > 0,
           "sendto");
    }
  });
  std::vector<double> errors;
  std::array<char, 1500> packet{};
  for (int i = 0; i < num; ++i) {
    must(::recv(receiver.get(), packet.data(), packet.size(), 0) > 0, "recv");
    std::int64_t sent = 0;
    std::memcpy(&sent, packet.data(), sizeof(sent));
    const double took =
        static_cast<double>(steady_clock::now().time_since_epoch().count() - sent) / 1e6;
    errors.push_back(took - delay_ms - 1228 * 8 / 1e6);
  }
  sending.join();
  fmt::print(
      "delay {:2} ms at 1 Gbit/s: {} packets, error p50 {:.3f} ms, p95 {:.3f} ms, max {:.3f} ms; "
      "load {:.2f}\n",
      delay_ms, errors.size(), quantile(errors, 0.5), quantile(errors, 0.95), quantile(errors, 1),
      load_average());
}

void print_goodputs(double seconds) {
  fmt::print(
      "Gbit/s  delay/ms  goodput     ideal  error/%  cores  late/us p50, p99, max      on time  "
      "drops  load\n");
  for (const double rate : {0.1, 0.3, 1.0, 3.0})
    for (const int delay_ms : {0, 10, 20}) goodput(rate, delay_ms, seconds);
}

void measure(const std::vector<std::string>& words) {
  const std::string what = words.empty() ? "all" : words[0];
  const double seconds = words.size() > 1 ? std::atof(words[1].c_str()) : 3;
  if (what == "goodput" && words.size() > 3)
    return goodput(std::atof(words[2].c_str()), std::atoi(words[3].c_str()), seconds);
  if (what == "all" || what == "goodput") print_goodputs(seconds);
  if (what == "all" || what == "step") {
    step(0.3, 1, seconds);
    step(0.1, 3, seconds);
  }
  if (what == "all" || what == "delay")
    for (const int delay_ms : {0, 10, 20}) delay(delay_ms, seconds);
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  sluice::measure({argv + 1, argv + argc});
}
