#include "emu/link/kernel/veth.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/veth.h>
#include <net/if.h>

#include "emu/link/kernel/netlink.h"

namespace sluice {
namespace {

constexpr const char* kName = "link";
constexpr std::uint8_t kPrefix = 30;

Status add_pair(const VethEnd& near, const VethEnd& far) {
  Result<NetlinkSocket> socket = NetlinkSocket::open();
  if (!socket) return socket.error();
  NetlinkRequest request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
  request.put(IFLA_IFNAME, std::string(kName));
  request.put(IFLA_MTU, static_cast<std::uint32_t>(near.mtu.bytes()));
  request.nest(IFLA_LINKINFO, [&] {
    request.put(IFLA_INFO_KIND, std::string("veth"));
    request.nest(IFLA_INFO_DATA, [&] {
      request.nest(VETH_INFO_PEER, [&] {
        request.append(ifinfomsg{});
        request.put(IFLA_IFNAME, std::string(kName));
        request.put(IFLA_MTU, static_cast<std::uint32_t>(far.mtu.bytes()));
        request.put(IFLA_NET_NS_FD, static_cast<std::uint32_t>(far.space->descriptor()));
      });
    });
  });
  return socket->request(std::move(request), "make a veth pair");
}

Status set_up(const VethEnd& end, const char* address) {
  Result<NetlinkSocket> socket = NetlinkSocket::open();
  if (!socket) return socket.error();
  const int index = veth_index();
  in_addr number{};
  ::inet_pton(AF_INET, address, &number);
  NetlinkRequest name(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL,
                      ifaddrmsg{.ifa_family = AF_INET,
                                .ifa_prefixlen = kPrefix,
                                .ifa_index = static_cast<unsigned>(index)});
  name.put(IFA_LOCAL, number.s_addr);
  name.put(IFA_ADDRESS, number.s_addr);
  if (Status set = socket->request(std::move(name), "give a veth its address"); !set) return set;
  NetlinkRequest up(RTM_NEWLINK, 0,
                    ifinfomsg{.ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP});
  up.put(IFLA_GSO_MAX_SIZE, static_cast<std::uint32_t>(end.largest_segment.bytes()));
  return socket->request(std::move(up), "raise a veth");
}

}  // namespace

int veth_index() {
  return static_cast<int>(::if_nametoindex(kName));
}

Status make_veth(const VethEnd& near, const VethEnd& far) {
  if (Status made = near.space->run([&] { return add_pair(near, far); }); !made) return made;
  if (Status set = near.space->run([&] { return set_up(near, kVethNear); }); !set) return set;
  return far.space->run([&] { return set_up(far, kVethFar); });
}

}  // namespace sluice
