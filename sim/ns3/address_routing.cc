#include "sim/ns3/address_routing.h"

#include <ns3/ipv4-route.h>
#include <ns3/ipv4.h>
#include <ns3/net-device.h>
#include <ns3/packet.h>

namespace sluice {

ns3::TypeId AddressRouting::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("sluice::AddressRouting").SetParent<ns3::Ipv4RoutingProtocol>();
  return id;
}

void AddressRouting::forward(ns3::Ipv4Address to, ns3::Ipv4Address source,
                             ns3::Ptr<ns3::NetDevice> device) {
  const auto route = ns3::Create<ns3::Ipv4Route>();
  route->SetDestination(to);
  route->SetGateway(to);  // ns-3 sends nothing along a route without one
  route->SetSource(source);
  route->SetOutputDevice(device);
  routes_[to.Get()] = route;
}

void AddressRouting::deliver_here(ns3::Ipv4Address to) {
  routes_[to.Get()] = nullptr;
}

ns3::Ptr<ns3::Ipv4Route> AddressRouting::RouteOutput(ns3::Ptr<ns3::Packet> /*packet*/,
                                                     const ns3::Ipv4Header& header,
                                                     ns3::Ptr<ns3::NetDevice> /*wanted*/,
                                                     ns3::Socket::SocketErrno& why_not) {
  const auto found = routes_.find(header.GetDestination().Get());
  if (found == routes_.end() || !found->second) {
    why_not = ns3::Socket::ERROR_NOROUTETOHOST;
    return nullptr;
  }
  why_not = ns3::Socket::ERROR_NOTERROR;
  return found->second;
}

bool AddressRouting::RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header,
                                ns3::Ptr<const ns3::NetDevice> from,
                                UnicastForwardCallback forward_it, MulticastForwardCallback,
                                LocalDeliverCallback deliver_it, ErrorCallback) {
  const auto found = routes_.find(header.GetDestination().Get());
  if (found == routes_.end()) return false;
  if (found->second) {
    forward_it(found->second, packet, header);
  } else {
    deliver_it(packet, header, static_cast<std::uint32_t>(ipv4_->GetInterfaceForDevice(from)));
  }
  return true;
}

void AddressRouting::DoDispose() {
  ipv4_ = nullptr;
  routes_.clear();
  ns3::Ipv4RoutingProtocol::DoDispose();
}

}  // namespace sluice
