// Where an IP packet goes next, by its destination address alone.
// Where in the flow: one per node of the tier `tcp`. Each way through the topology has an address
// of its own, so that a group's packets take the links that all other tiers choose for it.
// Surprise: no interface has an address; a node takes as its own what is entered here.
#pragma once

#include <ns3/ipv4-address.h>
#include <ns3/ipv4-routing-protocol.h>

#include <unordered_map>

namespace sluice {

class AddressRouting final : public ns3::Ipv4RoutingProtocol {
 public:
  static ns3::TypeId GetTypeId();

  // Packets to `to` leave through `device`; those that begin here carry the address `source`.
  void forward(ns3::Ipv4Address to, ns3::Ipv4Address source, ns3::Ptr<ns3::NetDevice> device);
  void deliver_here(ns3::Ipv4Address to);
  // Packets still on their way to it are dropped from now on.
  void forget(ns3::Ipv4Address to) { routes_.erase(to.Get()); }

  ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet> packet, const ns3::Ipv4Header& header,
                                       ns3::Ptr<ns3::NetDevice> wanted,
                                       ns3::Socket::SocketErrno& why_not) override;
  bool RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header,
                  ns3::Ptr<const ns3::NetDevice> from, UnicastForwardCallback forward_it,
                  MulticastForwardCallback, LocalDeliverCallback deliver_it,
                  ErrorCallback) override;
  void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override { ipv4_ = ipv4; }
  void NotifyInterfaceUp(std::uint32_t) override {}
  void NotifyInterfaceDown(std::uint32_t) override {}
  void NotifyAddAddress(std::uint32_t, ns3::Ipv4InterfaceAddress) override {}
  void NotifyRemoveAddress(std::uint32_t, ns3::Ipv4InterfaceAddress) override {}
  void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override {}

 private:
  void DoDispose() override;

  ns3::Ptr<ns3::Ipv4> ipv4_;
  // By destination, looked up only; a null route: it is here.
  std::unordered_map<std::uint32_t, ns3::Ptr<ns3::Ipv4Route>> routes_;
};

}  // namespace sluice
