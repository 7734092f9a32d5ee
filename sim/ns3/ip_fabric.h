// The topology as ns-3 nodes with ns-3's Internet stack over our devices.
// Where in the flow: under the connections of the tier `tcp`.
// Surprises: a packet's size on a link is that of its IP packet, as in all other tiers; ns-3's
// traffic control passes everything on at once, so that the device's queue is the only one.
#pragma once

#include <ns3/ipv4-address.h>
#include <ns3/tcp-l4-protocol.h>

#include <vector>

#include "sim/net/network.h"
#include "sim/ns3/address_routing.h"
#include "sim/ns3/steady_packets.h"

namespace sluice {

class IpFabric {
 public:
  // Builds nodes and links in ns-3's simulator, which an Ns3Clock must hold. `topology` must
  // outlive it.
  explicit IpFabric(const TopologySpec& topology);
  IpFabric(const IpFabric&) = delete;
  IpFabric& operator=(const IpFabric&) = delete;

  [[nodiscard]] ns3::Ptr<ns3::TcpL4Protocol> tcp(NodeId node) const;
  // Packets to `to` travel along these links, at least one; they come from `source`.
  void add_address(ns3::Ipv4Address to, ns3::Ipv4Address source, const Route& links);
  void remove_address(ns3::Ipv4Address to, const Route& links);
  [[nodiscard]] LinkUsage usage(LinkId link) const {
    return devices_[static_cast<std::size_t>(link.value)]->usage();
  }

 private:
  struct Host {
    ns3::Ptr<ns3::Node> node;
    ns3::Ptr<AddressRouting> routing;
  };

  void add_host();
  void connect(const LinkSpec& spec, ns3::Ptr<TraceDevice> device);
  [[nodiscard]] AddressRouting& routing_from(LinkId link) const;
  [[nodiscard]] AddressRouting& routing_to(LinkId link) const;

  const TopologySpec* topology_;
  std::vector<Host> hosts_;                           // [node]
  const std::vector<ns3::Ptr<TraceDevice>> devices_;  // [link], at its sending end
  SteadyPackets steady_;
};

}  // namespace sluice
