#include "sim/net/validity.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/net/tcp_limits.h"
#include "sim/net/transport/segment.h"

namespace sluice {
namespace {

// Measured by network_speed, see the README: packets per second of one core's time.
constexpr double kPacketsPerCoreSecond = 2'000'000;
constexpr DataSize kLargeWindow = DataSize::bytes(1 << 20);
constexpr Duration kDatacenterDelay = std::chrono::microseconds{100};  // one way, of a link
constexpr Duration kSlowStore = std::chrono::milliseconds{1};
constexpr DataRate kEmulatedMax = DataRate::bits_per_sec(3'000'000'000);

Error not_for(const std::string& tier, std::string what, std::string fix) {
  return error_in("--tier " + tier, std::move(what), std::move(fix));
}

DataRate fastest(const LinkSpec& link) {
  DataRate top;
  for (const RateStep& step : link.capacity.steps) top = std::max(top, step.rate);
  return top;
}

bool marks(const LinkSpec& link) {
  const auto* const red = std::get_if<Red>(&link.queue.discipline);
  return red != nullptr && red->ecn;
}

// Which link is the bottleneck of a load is not known here; the slowest is one of somebody's.
Status check_dctcp(const std::string& tier, const TopologySpec& topology) {
  const LinkSpec* slowest = nullptr;
  for (const LinkSpec& link : topology.links) {
    const bool is_slower = slowest == nullptr || fastest(link) < fastest(*slowest);
    if (is_slower || (fastest(link) == fastest(*slowest) && marks(link))) slowest = &link;
  }
  if (slowest == nullptr || marks(*slowest)) return {};
  return not_for(
      tier,
      fmt::format("DCTCP acts on marks, and the slowest link '{}' marks no packets", slowest->name),
      "give it a queue with `discipline: red` and `ecn: true`, or use another "
      "congestion control");
}

// What TransportSpec can leave out of a model, but not of a real TCP.
Status check_tcp_transport(const std::string& tier, const TransportSpec& transport) {
  if (!transport.handshake)
    return not_for(tier, "TCP cannot leave out its handshake", "set transport.handshake to true");
  if (!transport.slow_start)
    return not_for(tier, "TCP cannot leave out slow start", "set transport.slow_start to true");
  if (!transport.count_headers || transport.header != kTcpHeader) {
    return not_for(tier, fmt::format("TCP's headers are {} a packet", to_text(kTcpHeader)),
                   "count headers, of that size");
  }
  if (transport.max_window > kTcpWindowMax) {
    return not_for(
        tier, fmt::format("a window of {} is more than TCP can say", to_text(transport.max_window)),
        fmt::format("give at most {}", to_text(kTcpWindowMax)));
  }
  return {};
}

Status check_tcp(const std::string& tier, const TopologySpec& topology,
                 const TransportSpec& transport) {
  if (Status able = check_tcp_transport(tier, transport); !able) return able;
  for (const LinkSpec& link : topology.links) {
    if (link.capacity.clock == TraceClock::kChunk) {
      return not_for(tier,
                     fmt::format("link '{}' has a rate per chunk, and TCP's packets know no chunks",
                                 link.name),
                     "use fluid, burst or packet, or a trace over time");
    }
    if (link.mtu < kTcpMtuMin) {
      return not_for(tier, fmt::format("link '{}' has an MTU of {}", link.name, to_text(link.mtu)),
                     fmt::format("give at least {}", to_text(kTcpMtuMin)));
    }
  }
  if (transport.congestion == CongestionControl::kDctcp) return check_dctcp(tier, topology);
  return {};
}

// Reasons of one link, one function per tier.
using Sentences = std::vector<std::string>;

// Our transport, and CUBIC, BBR and Reno of the tier `tcp`, are not ECN-capable.
void doubt_marks(const std::string& tier, const LinkSpec& link, Sentences& why) {
  if (!marks(link)) return;
  why.push_back(
      fmt::format("{}: the queue of link '{}' marks for DCTCP alone, and drops the packets of this "
                  "transport where it would mark",
                  tier, link.name));
}

void doubt_fluid(const LinkSpec& link, Sentences& why) {
  if (const double loss = mean_loss(link.loss); loss > 0) {
    why.push_back(
        fmt::format("fluid: link '{}' loses {:.3g} % of packets, which has at most its "
                    "mean effect here: no loss is waited for",
                    link.name, loss * 100));
  }
  const DataSize in_flight = fastest(link) * (link.delay * 2);
  if (link.queue.limit < in_flight) {
    why.push_back(
        fmt::format("fluid: the queue of link '{}' ({}) is smaller than what its own "
                    "round trip holds ({}), so packets would be lost; this tier has no "
                    "queues",
                    link.name, to_text(link.queue.limit), to_text(in_flight)));
  }
  if (link.capacity.clock == TraceClock::kChunk) {
    why.push_back(
        fmt::format("fluid: link '{}' has a rate per chunk; loads that share it at once "
                    "get a share of their own chunk's rate each",
                    link.name));
  }
  if (link.jitter > Duration::zero()) {
    why.push_back(
        fmt::format("fluid: the jitter of link '{}' is at most its mean here", link.name));
  }
}

void doubt_burst(const LinkSpec& link, bool is_multi_hop, Sentences& why) {
  if (const double loss = mean_loss(link.loss); loss > 0) {
    why.push_back(
        fmt::format("burst: link '{}' loses {:.3g} % of packets, but here whole segments "
                    "of up to {} are lost",
                    link.name, loss * 100, to_text(kBurstSegment)));
  }
  if (link.queue.limit < kBurstSegment * kSegmentsPerQueue) {
    why.push_back(fmt::format(
        "burst: the queue of link '{}' ({}) is below {} segments of {}, which "
        "are cut smaller there",
        link.name, to_text(link.queue.limit), kSegmentsPerQueue, to_text(kBurstSegment)));
  }
  if (!is_multi_hop || fastest(link) == DataRate::zero()) return;
  const Duration store = kBurstSegment / fastest(link);
  if (store > kSlowStore) {
    why.push_back(
        fmt::format("burst: link '{}' stores a segment for {} or more before it passes "
                    "it on, where packets take {}",
                    link.name, to_text(store), to_text(link.mtu / fastest(link))));
  }
}

void doubt_packet(const LinkSpec& link, Sentences& why) {
  const double packets = static_cast<double>(fastest(link).bits_per_sec()) / 8.0 /
                         static_cast<double>(link.mtu.bytes());
  if (packets <= kPacketsPerCoreSecond) return;
  why.push_back(
      fmt::format("packet: a busy second of link '{}' is {:.0f} packets, about {:.1f} s of "
                  "one core",
                  link.name, packets, packets / kPacketsPerCoreSecond));
}

void doubt_emu(const LinkSpec& link, Sentences& why) {
  if (fastest(link) <= kEmulatedMax) return;
  why.push_back(fmt::format("emu: link '{}' reaches {}, more than a host emulates (about {})",
                            link.name, to_text(fastest(link)), to_text(kEmulatedMax)));
}

bool is_datacenter(const TopologySpec& topology) {
  return std::all_of(topology.links.begin(), topology.links.end(),
                     [](const LinkSpec& link) { return link.delay <= kDatacenterDelay; });
}

void doubt_tcp(const TopologySpec& topology, const TransportSpec& transport, Sentences& why) {
  if (transport.congestion == CongestionControl::kBbr && is_datacenter(topology)) {
    // Measured by tier_contract_test --gtest_filter='Tcp.Bbr*': 44 MB, 3 Gbit/s, RTT 0.2 ms.
    why.push_back(
        "tcp: BBR of ns-3 3.37 collapses at round trips of 0.2 ms and less: of 3 Gbit/s it "
        "uses 19 % at MTU 9000 and 6 % at 1500 (measured), where Linux's fills the link");
  }
  for (const LinkSpec& link : topology.links) {
    const DataSize window =
        std::min(transport.max_window, link.queue.limit + fastest(link) * (link.delay * 2));
    if (window <= kLargeWindow) continue;
    why.push_back(
        fmt::format("tcp: windows on link '{}' can reach {}, and ns-3's TCP works longer "
                    "per packet the larger they are: minutes per load are possible",
                    link.name, to_text(window)));
    return;  // once is enough
  }
}

}  // namespace

Status check_tier(const std::string& tier, const TopologySpec& topology,
                  const TransportSpec& transport) {
  static const std::vector<std::string> kOurs{"fluid", "burst", "packet"};
  if (tier == "tcp" || tier == "emu") return check_tcp(tier, topology, transport);
  if (std::find(kOurs.begin(), kOurs.end(), tier) == kOurs.end())
    return not_for(tier, "there is no such tier", "use fluid, burst, packet or tcp");
  if (transport.congestion != CongestionControl::kCubic)
    return not_for(tier, "its transport knows CUBIC only", "use the tier tcp for others");
  return {};
}

std::vector<std::string> doubts_about(const std::string& tier, const TopologySpec& topology,
                                      const TransportSpec& transport) {
  Sentences why;
  for (const LinkSpec& link : topology.links) {
    if (tier == "fluid") doubt_fluid(link, why);
    if (tier == "burst") doubt_burst(link, topology.nodes.size() > 2, why);
    if (tier == "packet") doubt_packet(link, why);
    if (tier == "emu") doubt_emu(link, why);
    if (tier != "fluid" && transport.congestion != CongestionControl::kDctcp)
      doubt_marks(tier, link, why);
  }
  if (tier == "tcp") doubt_tcp(topology, transport, why);
  return why;
}

}  // namespace sluice
