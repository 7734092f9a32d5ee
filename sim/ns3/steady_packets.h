// The steady flows of a topology as real packets on its links.
// Where in the flow: beside the transport, in every tier over TraceDevices.
// Surprise: the packets never end, so a clock with steady traffic runs until it is stopped.
#pragma once

#include <deque>
#include <vector>

#include "sim/ns3/trace_device.h"

namespace sluice {

class SteadyPackets final : private PacketOwner {
 public:
  // The flows begin at once. Both must outlive it; `devices` are those of the topology's links, in
  // their order.
  SteadyPackets(const TopologySpec& topology, const std::vector<ns3::Ptr<TraceDevice>>& devices);
  ~SteadyPackets() override;
  SteadyPackets(const SteadyPackets&) = delete;
  SteadyPackets& operator=(const SteadyPackets&) = delete;

 private:
  struct Flow {
    explicit Flow(const SteadyFlow& spec, Route along);
    Flow(const Flow&) = delete;  // `pace` refers to `source`
    Flow& operator=(const Flow&) = delete;

    DataSize packet;
    Route route;
    LinkSpec source;  // the flow's rate as a link of its own
    LinkCapacity pace;
    ns3::EventId next;
  };

  void await_next(std::size_t flow);
  void send(std::size_t flow);
  void on_arrival(const LinkPacket& packet) override;

  const std::vector<ns3::Ptr<TraceDevice>>* devices_;
  std::deque<Flow> flows_;
};

}  // namespace sluice
