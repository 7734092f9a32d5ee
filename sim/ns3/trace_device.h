// An ns-3 point-to-point device whose rate follows a link trace, also in the middle of a packet.
// Where in the flow: one per link, at its sending end. Queue, then wire, then ns-3's own channel
// adds the delay.
// Surprise: ns-3's device reads its rate when a packet begins and never again; ours takes the wire
// itself and finds the end of each packet by integrating the trace, so a change re-times the rest
// and rate 0 holds it.
#pragma once

#include <ns3/point-to-point-net-device.h>
#include <ns3/queue.h>

#include "sim/net/capacity.h"

namespace sluice {

class TraceDevice final : public ns3::PointToPointNetDevice {
 public:
  static ns3::TypeId GetTypeId();
  explicit TraceDevice(const LinkSpec& link);  // `link` must outlive the device's use

  // Queues the packet behind the one on the wire, or drops it when the queue is full; then returns
  // false.
  bool Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& to, std::uint16_t protocol) override;
  [[nodiscard]] DataSize sent() const { return sent_; }
  [[nodiscard]] DataSize dropped() const { return dropped_; }

 private:
  void put_on_wire(ns3::Ptr<ns3::Packet> packet);
  void on_sent(ns3::Ptr<ns3::Packet> packet);

  LinkCapacity capacity_;
  ns3::Ptr<ns3::Queue<ns3::Packet>> queue_;
  bool is_busy_ = false;
  DataSize sent_, dropped_;  // wire bytes offered to it; and of them, refused
};

}  // namespace sluice
