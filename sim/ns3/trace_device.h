// An ns-3 point-to-point device that is a whole link: queue, wire at the rate of a trace, loss and
// delay.
// Where in the flow: one per link, at its sending end, under our transport and under ns-3's stack.
// Surprises: ns-3's device reads its rate when a packet begins and never again; ours finds the end
// of each packet by integrating the trace, so a change re-times the rest and rate 0 holds it.
// ns-3's channel is attached only so that its stack finds the far end: it has one delay and no
// loss.
#pragma once

#include <ns3/event-impl.h>
#include <ns3/point-to-point-net-device.h>

#include <vector>

#include "base/ring.h"
#include "sim/net/capacity.h"
#include "sim/net/link/link_queue.h"
#include "sim/net/link/packet_fate.h"
#include "sim/ns3/link_packet.h"

namespace sluice {

class TraceDevice final : public ns3::PointToPointNetDevice {
 public:
  static ns3::TypeId GetTypeId();
  // `topology` must outlive it.
  TraceDevice(const TopologySpec& topology, LinkId link);

  // Queues the packet behind the one on the wire; false when the queue drops it.
  bool offer(LinkPacket packet);
  // The same for an IP packet of ns-3's stack; its size is what it occupies of the link. At the far
  // end it is given to the other device of the channel that is attached.
  bool Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& to, std::uint16_t protocol) override;
  [[nodiscard]] LinkUsage usage() const;

 private:
  struct OnTheWay {
    LinkPacket packet;
    Instant arrives_at;
    bool is_lost = false;
  };

  [[nodiscard]] bool can_be_marked(const LinkPacket& packet) const;
  [[nodiscard]] double packets_since_idle(Instant now) const;
  [[nodiscard]] std::optional<Instant> finish(Instant now, const LinkPacket& packet);
  void put_next_on_wire(Instant now);
  void on_wire_free();
  void on_arrival();
  void await_arrival(Instant now);
  void hand_over(const LinkPacket& packet);

  const LinkSpec* link_;
  LinkCapacity capacity_;
  LinkQueue<LinkPacket> queue_;
  PacketLoss loss_;
  PacketDelay delay_;
  Ring<OnTheWay> on_the_way_;  // from the first bit on the wire until arrival, in order
  DataSize on_the_way_size_;
  Instant wire_free_at_;  // max: an outage for ever
  bool awaits_wire_ = false;
  DataRate rate_;  // of a time-clocked trace, until it changes
  Instant rate_until_;
  DataSize sent_, delivered_, dropped_;
  // One event each, scheduled again and again.
  ns3::Ptr<ns3::EventImpl> wire_event_, arrival_event_;
};

// One for each link of the topology, which must outlive them.
[[nodiscard]] std::vector<ns3::Ptr<TraceDevice>> make_devices(const TopologySpec& topology);

}  // namespace sluice
