#include "sim/ns3/ns3_carrier.h"

#include "sim/ns3/steady_packets.h"
#include "sim/ns3/trace_device.h"

namespace sluice {
struct Ns3Carrier::Parts final : PacketOwner {
  explicit Parts(const TopologySpec& of)
      : topology(of), devices(make_devices(topology)), steady(topology, devices) {}
  void on_arrival(const LinkPacket& packet) override;

  const TopologySpec topology;
  const std::vector<ns3::Ptr<TraceDevice>> devices;  // [link], at its sending end
  std::vector<std::vector<TraceDevice*>> routes;     // [route]
  SteadyPackets steady;
  PacketReceiver* receiver = nullptr;
};

void Ns3Carrier::Parts::on_arrival(const LinkPacket& packet) {
  const auto& route = routes[static_cast<std::size_t>(packet.fields.route)];
  const std::size_t hop = packet.hop + 1;
  if (hop == route.size()) return receiver->on_packet(packet.fields);
  LinkPacket next = packet;
  next.hop = static_cast<std::uint32_t>(hop);
  route[hop]->offer(std::move(next));
}

Ns3Carrier::Ns3Carrier(const TopologySpec& topology) : parts_(std::make_unique<Parts>(topology)) {}

Ns3Carrier::~Ns3Carrier() = default;

std::int32_t Ns3Carrier::add_route(const Route& links) {
  std::vector<TraceDevice*>& route = parts_->routes.emplace_back();
  for (const LinkId link : links)
    route.push_back(ns3::PeekPointer(parts_->devices[static_cast<std::size_t>(link.value)]));
  return static_cast<std::int32_t>(parts_->routes.size()) - 1;
}

void Ns3Carrier::send(const PacketFields& fields, DataSize wire) {
  LinkPacket packet;
  packet.wire = wire;
  packet.owner = parts_.get();
  packet.fields = fields;
  packet.chunk_index = fields.chunk_index;
  parts_->routes[static_cast<std::size_t>(fields.route)].front()->offer(std::move(packet));
}

void Ns3Carrier::set_receiver(PacketReceiver& receiver) {
  parts_->receiver = &receiver;
}

LinkUsage Ns3Carrier::usage(LinkId link) const {
  return parts_->devices[static_cast<std::size_t>(link.value)]->usage();
}

}  // namespace sluice
