#include "sim/ns3/steady_packets.h"

#include <ns3/nstime.h>
#include <ns3/simulator.h>

#include "sim/net/path.h"

namespace sluice {

namespace {

LinkSpec source_of(const SteadyFlow& flow) {
  LinkSpec source;
  source.capacity = flow.rate;
  source.trace_offset = flow.trace_offset;
  return source;
}

}  // namespace

SteadyPackets::Flow::Flow(const SteadyFlow& spec, Route along)
    : packet(spec.packet), route(std::move(along)), source(source_of(spec)), pace(source) {}

SteadyPackets::SteadyPackets(const TopologySpec& topology,
                             const std::vector<ns3::Ptr<TraceDevice>>& devices)
    : devices_(&devices) {
  for (std::size_t i = 0; i < topology.steady_flows.size(); ++i) {
    flows_.emplace_back(topology.steady_flows[i], steady_route(topology, i));
    await_next(i);
  }
}

SteadyPackets::~SteadyPackets() {
  for (Flow& flow : flows_) flow.next.Remove();
}

// A packet goes when the rate has brought its last byte.
void SteadyPackets::await_next(std::size_t flow) {
  Flow& of = flows_[flow];
  const Instant now = at_ns(ns3::Simulator::Now().GetNanoSeconds());
  const auto at = of.pace.finish(now, Nanobits::of(of.packet), std::nullopt);
  if (!at) return;  // its rate stays zero
  of.next = ns3::Simulator::Schedule(ns3::NanoSeconds(to_ns(*at - now)), &SteadyPackets::send, this,
                                     flow);
}

void SteadyPackets::send(std::size_t flow) {
  await_next(flow);
  LinkPacket packet;
  packet.wire = flows_[flow].packet;
  packet.owner = this;
  packet.fields.route = static_cast<std::int32_t>(flow);
  const auto first = static_cast<std::size_t>(flows_[flow].route.front().value);
  (*devices_)[first]->offer(std::move(packet));
}

void SteadyPackets::on_arrival(const LinkPacket& packet) {
  const Route& route = flows_[static_cast<std::size_t>(packet.fields.route)].route;
  const std::size_t hop = packet.hop + 1;
  if (hop == route.size()) return;  // nobody waits for it
  LinkPacket next = packet;
  next.hop = static_cast<std::uint32_t>(hop);
  (*devices_)[static_cast<std::size_t>(route[hop].value)]->offer(std::move(next));
}

}  // namespace sluice
