#include "sim/ns3/ip_fabric.h"

#include <ns3/ipv4-l3-protocol.h>
#include <ns3/node.h>
#include <ns3/point-to-point-channel.h>
#include <ns3/traffic-control-layer.h>

namespace sluice {
namespace {

constexpr std::uint8_t kHopsMax = 255;  // of IP's 8-bit time to live

void add_interface(ns3::Ptr<ns3::Node> node, ns3::Ptr<ns3::NetDevice> device, DataSize mtu) {
  device->SetMtu(static_cast<std::uint16_t>(mtu.bytes()));
  node->AddDevice(device);
  const auto ipv4 = node->GetObject<ns3::Ipv4L3Protocol>();
  ipv4->SetUp(ipv4->AddInterface(device));
}

}  // namespace

IpFabric::IpFabric(const TopologySpec& topology)
    : topology_(&topology), devices_(make_devices(topology)), steady_(topology, devices_) {
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) add_host();
  for (std::size_t i = 0; i < topology.links.size(); ++i) connect(topology.links[i], devices_[i]);
}

void IpFabric::add_host() {
  Host& host = hosts_.emplace_back();
  host.node = ns3::CreateObject<ns3::Node>();
  host.routing = ns3::CreateObject<AddressRouting>();
  host.node->AggregateObject(ns3::CreateObject<ns3::TrafficControlLayer>());
  const auto ipv4 = ns3::CreateObject<ns3::Ipv4L3Protocol>();
  ipv4->SetDefaultTtl(kHopsMax);
  host.node->AggregateObject(ipv4);
  ipv4->SetRoutingProtocol(host.routing);
  host.node->AggregateObject(ns3::CreateObject<ns3::TcpL4Protocol>());
}

// The device itself is the link; the channel only leads it to the far end.
void IpFabric::connect(const LinkSpec& spec, ns3::Ptr<TraceDevice> device) {
  const auto receiving_end = ns3::CreateObject<ns3::PointToPointNetDevice>();
  const auto channel = ns3::CreateObject<ns3::PointToPointChannel>();
  add_interface(hosts_[static_cast<std::size_t>(spec.from.value)].node, device, spec.mtu);
  add_interface(hosts_[static_cast<std::size_t>(spec.to.value)].node, receiving_end, spec.mtu);
  device->Attach(channel);
  receiving_end->Attach(channel);
}

ns3::Ptr<ns3::TcpL4Protocol> IpFabric::tcp(NodeId node) const {
  return hosts_[static_cast<std::size_t>(node.value)].node->GetObject<ns3::TcpL4Protocol>();
}

AddressRouting& IpFabric::routing_from(LinkId link) const {
  const NodeId from = topology_->links[static_cast<std::size_t>(link.value)].from;
  return *hosts_[static_cast<std::size_t>(from.value)].routing;
}

AddressRouting& IpFabric::routing_to(LinkId link) const {
  const NodeId to = topology_->links[static_cast<std::size_t>(link.value)].to;
  return *hosts_[static_cast<std::size_t>(to.value)].routing;
}

void IpFabric::add_address(ns3::Ipv4Address to, ns3::Ipv4Address source, const Route& links) {
  for (const LinkId link : links)
    routing_from(link).forward(to, source, devices_[static_cast<std::size_t>(link.value)]);
  routing_to(links.back()).deliver_here(to);
}

void IpFabric::remove_address(ns3::Ipv4Address to, const Route& links) {
  for (const LinkId link : links) routing_from(link).forget(to);
  routing_to(links.back()).forget(to);
}

}  // namespace sluice
