#include "emu/link/kernel/shaper.h"

#include <arpa/inet.h>
#include <linux/gen_stats.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include "emu/link/kernel/veth.h"

namespace sluice {
namespace {

constexpr std::int64_t kEthernetHeader = 14;  // tbf counts it, a link's rate does not
constexpr std::int64_t kLargestOffload = 65535;
constexpr std::uint32_t kRoot = 1U << 16, kBelow = 2U << 16;  // handles 1: and 2:
constexpr std::uint32_t kNetemPackets = 1'000'000;
constexpr std::uint16_t kNobodys = 0x88B5;  // EtherType for local experiments (IEEE 802)
constexpr Duration kBurst = std::chrono::milliseconds{1};

std::uint32_t fit(std::int64_t value) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

DataSize largest_segment(const LinkSpec& link) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const RateStep& step : link.capacity.steps) {
    if (step.rate > DataRate::zero()) least = std::min(least, (step.rate * kBurst).bytes());
  }
  return DataSize::bytes(std::min(std::max(least, link.mtu.bytes()), kLargestOffload));
}

Result<Shaper> Shaper::open(const NetworkNamespace& space) {
  std::optional<Result<NetlinkSocket>> socket;
  int interface = 0;
  Descriptor wake;
  const Status opened = space.run([&]() -> Status {
    socket = NetlinkSocket::open();
    interface = veth_index();
    wake = Descriptor(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!wake)
      return error_in("kernel", std::string("no packet socket: ") + std::strerror(errno),
                      "use another --emulator");
    return socket->ok() ? Status() : socket->error();
  });
  if (!opened) return opened.error();
  return Shaper(std::move(**socket), interface, std::move(wake));
}

Status Shaper::install(const LinkSpec& link, DataRate rate) {
  if (installed_) {
    const tcmsg root{.tcm_family = AF_UNSPEC, .tcm_ifindex = interface_, .tcm_parent = TC_H_ROOT};
    if (Status gone = socket_.request(NetlinkRequest(RTM_DELQDISC, 0, root), "remove a queue");
        !gone)
      return gone;
  }
  installed_ = false;
  delay_ = link.delay;
  loss_ = mean_loss(link.loss);
  below_netem_ = delay_ > Duration::zero() || loss_ > 0;
  mtu_ = link.mtu;
  limit_ = link.queue.limit;
  largest_ = largest_segment(link);
  if (below_netem_) {
    if (Status put = put_netem(); !put) return put;
  }
  installed_ = true;
  return put_bucket(rate, NLM_F_CREATE | NLM_F_EXCL);
}

Status Shaper::put_netem() {
  const tcmsg root{.tcm_family = AF_UNSPEC,
                   .tcm_ifindex = interface_,
                   .tcm_handle = kRoot,
                   .tcm_parent = TC_H_ROOT};
  NetlinkRequest request(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, root);
  request.put(TCA_KIND, std::string("netem"));
  // netem's options are a struct with attributes behind it.
  struct {
    tc_netem_qopt fixed{};
    nlattr header{.nla_len = NLA_HDRLEN + sizeof(std::int64_t), .nla_type = TCA_NETEM_LATENCY64};
    std::array<char, sizeof(std::int64_t)> latency{};
  } options;
  options.fixed.limit = kNetemPackets;
  options.fixed.loss = fit(std::llround(loss_ * std::numeric_limits<std::uint32_t>::max()));
  const std::int64_t ns = to_ns(delay_);
  std::memcpy(options.latency.data(), &ns, sizeof ns);
  request.put_struct(TCA_OPTIONS, options);
  return socket_.request(std::move(request), "delay or lose packets, which needs netem");
}

// The bucket holds a millisecond, as much as the host's timers may be late, and at least what TCP
// hands down at once. Of an outage, a byte a second is the least that tbf takes.
Status Shaper::put_bucket(DataRate rate, int flags) {
  const bool outage = rate == DataRate::zero();
  const std::int64_t frame = mtu_.bytes() + kEthernetHeader;
  const auto bytes_per_sec = static_cast<std::uint64_t>(
      outage ? 1 : std::max<std::int64_t>(rate.bits_per_sec() / 8 * frame / mtu_.bytes(), 1));
  const std::int64_t burst =
      outage ? frame
             : std::max((rate * kBurst).bytes(), largest_.bytes() + largest_.bytes() / 8 + frame);
  tc_tbf_qopt fixed{};
  fixed.rate.linklayer = TC_LINKLAYER_ETHERNET;
  fixed.rate.rate = fit(static_cast<std::int64_t>(bytes_per_sec));
  fixed.limit = fit(limit_.bytes() + frame);  // with the packet on the wire
  const tcmsg place{.tcm_family = AF_UNSPEC,
                    .tcm_ifindex = interface_,
                    .tcm_handle = below_netem_ ? kBelow : kRoot,
                    .tcm_parent = below_netem_ ? kRoot + 1 : TC_H_ROOT};
  NetlinkRequest request(RTM_NEWQDISC, flags, place);
  request.put(TCA_KIND, std::string("tbf"));
  request.nest(TCA_OPTIONS, [&] {
    request.put_struct(TCA_TBF_PARMS, fixed);
    request.put(TCA_TBF_BURST, fit(burst));
    request.put64(TCA_TBF_RATE64, bytes_per_sec);
  });
  return socket_.request(std::move(request), "shape a veth, which needs tbf");
}

Status Shaper::set_rate(DataRate rate) {
  if (Status put = put_bucket(rate, 0); !put) return put;
  wake();
  return {};
}

void Shaper::wake() const {
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_protocol = htons(kNobodys);
  to.sll_ifindex = interface_;
  to.sll_halen = ETH_ALEN;
  const char byte = 0;
  (void)!::sendto(wake_.get(), &byte, 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

Result<ShaperCounts> Shaper::counts() {
  ShaperCounts counts;
  const std::uint32_t handle = below_netem_ ? kBelow : kRoot;
  const auto see = [&](nlmsghdr* message) {
    const auto* place = static_cast<const tcmsg*>(nlmsg_data(message));
    if (place->tcm_ifindex != interface_ || place->tcm_handle != handle) return;
    const nlattr* stats = nlmsg_find_attr(message, sizeof(tcmsg), TCA_STATS2);
    if (!stats) return;
    const auto read = [&](int kind, auto& value) {
      const nlattr* found =
          nla_find(static_cast<const nlattr*>(nla_data(stats)), nla_len(stats), kind);
      if (found)
        std::memcpy(&value, nla_data(found),
                    std::min(sizeof value, static_cast<std::size_t>(nla_len(found))));
    };
    gnet_stats_basic basic{};
    gnet_stats_queue queue{};
    read(TCA_STATS_BASIC, basic);
    read(TCA_STATS_QUEUE, queue);
    const auto without_ethernet = [](std::uint64_t bytes, std::int64_t packets) {
      return DataSize::bytes(
          std::max<std::int64_t>(static_cast<std::int64_t>(bytes) - packets * kEthernetHeader, 0));
    };
    counts = {.packets = basic.packets,
              .dropped_packets = queue.drops,
              .waiting_packets = queue.qlen,
              .left = without_ethernet(basic.bytes, basic.packets),
              .waiting = without_ethernet(queue.backlog, queue.qlen)};
  };
  NetlinkRequest request(RTM_GETQDISC, NLM_F_DUMP,
                         tcmsg{.tcm_family = AF_UNSPEC, .tcm_ifindex = interface_});
  if (Status listed = socket_.dump(std::move(request), see); !listed) return listed.error();
  return counts;
}

}  // namespace sluice
