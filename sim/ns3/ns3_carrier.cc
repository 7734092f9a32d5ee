#include "sim/ns3/ns3_carrier.h"

#include <ns3/node.h>
#include <ns3/nstime.h>
#include <ns3/packet.h>
#include <ns3/point-to-point-channel.h>
#include <ns3/simulator.h>

#include <algorithm>

#include "sim/ns3/fields_tag.h"
#include "sim/ns3/trace_device.h"

namespace sluice {

struct Ns3Carrier::Parts {
  struct Link {
    ns3::Ptr<TraceDevice> device;                        // at the sending end
    ns3::Ptr<ns3::PointToPointNetDevice> receiving_end;  // which never sends
    DataSize delivered;
  };

  explicit Parts(const TopologySpec& of) : topology(of) {}
  void add_link(std::size_t index);
  static bool receive(Parts* parts, std::size_t link, ns3::Ptr<ns3::NetDevice> device,
                      ns3::Ptr<const ns3::Packet> packet, std::uint16_t protocol,
                      const ns3::Address& from);

  const TopologySpec topology;
  std::vector<ns3::Ptr<ns3::Node>> nodes;
  std::vector<Link> links;                  // [link]
  std::vector<std::vector<LinkId>> routes;  // [route]
  std::function<void(const PacketFields&)> receiver;
};

void Ns3Carrier::Parts::add_link(std::size_t index) {
  const LinkSpec& spec = topology.links[index];
  Link& link = links.emplace_back();
  link.device = ns3::CreateObject<TraceDevice>(spec);
  link.receiving_end = ns3::CreateObject<ns3::PointToPointNetDevice>();
  const auto channel = ns3::CreateObject<ns3::PointToPointChannel>();
  channel->SetAttribute("Delay", ns3::TimeValue(ns3::NanoSeconds(to_ns(spec.delay))));
  nodes[static_cast<std::size_t>(spec.from.value)]->AddDevice(link.device);
  nodes[static_cast<std::size_t>(spec.to.value)]->AddDevice(link.receiving_end);
  link.device->Attach(channel);
  link.receiving_end->Attach(channel);
  // After AddDevice, which sets the node's own receiver.
  link.receiving_end->SetReceiveCallback(ns3::MakeBoundCallback(&Parts::receive, this, index));
}

bool Ns3Carrier::Parts::receive(Parts* parts, std::size_t link, ns3::Ptr<ns3::NetDevice> /*device*/,
                                ns3::Ptr<const ns3::Packet> packet, std::uint16_t /*protocol*/,
                                const ns3::Address& /*from*/) {
  parts->links[link].delivered += DataSize::bytes(packet->GetSize());
  FieldsTag tag;
  packet->PeekPacketTag(tag);
  const std::vector<LinkId>& route = parts->routes[static_cast<std::size_t>(tag.fields.route)];
  const auto here = std::find(route.begin(), route.end(), LinkId{static_cast<std::int32_t>(link)});
  const auto next = here + 1;
  if (next == route.end()) {
    parts->receiver(tag.fields);
  } else {
    parts->links[static_cast<std::size_t>(next->value)].device->Send(packet->Copy(), {}, 0);
  }
  return true;
}

Ns3Carrier::Ns3Carrier(const TopologySpec& topology) : parts_(std::make_unique<Parts>(topology)) {
  for (std::size_t i = 0; i < topology.nodes.size(); ++i)
    parts_->nodes.push_back(ns3::CreateObject<ns3::Node>());
  for (std::size_t i = 0; i < topology.links.size(); ++i) parts_->add_link(i);
}

Ns3Carrier::~Ns3Carrier() = default;

std::int32_t Ns3Carrier::add_route(const std::vector<LinkId>& links) {
  parts_->routes.push_back(links);
  return static_cast<std::int32_t>(parts_->routes.size()) - 1;
}

void Ns3Carrier::send(const PacketFields& fields, DataSize wire) {
  const auto packet = ns3::Create<ns3::Packet>(static_cast<std::uint32_t>(wire.bytes()));
  packet->AddPacketTag(FieldsTag(fields));
  const LinkId first = parts_->routes[static_cast<std::size_t>(fields.route)].front();
  parts_->links[static_cast<std::size_t>(first.value)].device->Send(packet, {}, 0);
}

void Ns3Carrier::set_receiver(std::function<void(const PacketFields&)> receiver) {
  parts_->receiver = std::move(receiver);
}

LinkUsage Ns3Carrier::usage(LinkId link) const {
  const auto index = static_cast<std::size_t>(link.value);
  const Parts::Link& of = parts_->links[index];
  LinkUsage usage;
  usage.wire_sent = of.device->sent();
  usage.wire_dropped = of.device->dropped();
  usage.wire_delivered = of.delivered;
  const Instant now = at_ns(ns3::Simulator::Now().GetNanoSeconds());
  usage.capacity =
      LinkCapacity(parts_->topology.links[index]).offered_until(now).value_or(usage.wire_delivered);
  return usage;
}

}  // namespace sluice
