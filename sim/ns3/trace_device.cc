#include "sim/ns3/trace_device.h"

#include <ns3/ipv4-header.h>
#include <ns3/make-event.h>
#include <ns3/node.h>
#include <ns3/nstime.h>
#include <ns3/point-to-point-channel.h>
#include <ns3/ppp-header.h>
#include <ns3/simulator.h>

#include <algorithm>

namespace sluice {
namespace {

constexpr std::uint16_t kPppIpv4 = 0x0021;  // RFC 1332

Instant ns3_now() {
  return at_ns(ns3::Simulator::Now().GetNanoSeconds());
}

const LinkSpec& spec_of(const TopologySpec& topology, LinkId link) {
  return topology.links[static_cast<std::size_t>(link.value)];
}

// "Congestion experienced" into the header of an IP packet (RFC 3168, section 5).
void mark(LinkPacket& packet) {
  ns3::Ipv4Header header;
  packet.ip->RemoveHeader(header);
  header.SetEcn(ns3::Ipv4Header::ECN_CE);
  if (ns3::Node::ChecksumEnabled()) header.EnableChecksum();
  packet.ip->AddHeader(header);
}

RandomStream queue_random(const TopologySpec& topology, LinkId link) {
  return RandomStream(topology.seed, "queue", static_cast<std::uint64_t>(link.value));
}

}  // namespace

ns3::TypeId TraceDevice::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("sluice::TraceDevice").SetParent<ns3::PointToPointNetDevice>();
  return id;
}

TraceDevice::TraceDevice(const TopologySpec& topology, LinkId link)
    : link_(&spec_of(topology, link)),
      capacity_(*link_),
      queue_(*link_, queue_random(topology, link)),
      loss_(*link_, link, topology.seed),
      delay_(*link_, link, topology.seed),
      wire_event_(ns3::MakeEvent(&TraceDevice::on_wire_free, this), false),
      arrival_event_(ns3::MakeEvent(&TraceDevice::on_arrival, this), false) {}

bool TraceDevice::Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& /*to*/,
                       std::uint16_t /*protocol*/) {
  LinkPacket of;
  of.wire = DataSize::bytes(packet->GetSize());
  of.ip = std::move(packet);
  return offer(std::move(of));
}

// Packets of our own transport are dropped instead: it knows no marks.
bool TraceDevice::can_be_marked(const LinkPacket& packet) const {
  if (!packet.ip || !queue_.marks()) return false;
  ns3::Ipv4Header header;
  packet.ip->PeekHeader(header);
  return header.GetEcn() != ns3::Ipv4Header::ECN_NotECT;
}

// RED lets its average sink while the wire is idle.
double TraceDevice::packets_since_idle(Instant now) const {
  if (!std::holds_alternative<Red>(link_->queue.discipline) || capacity_.by_chunk()) return 0;
  const auto bits_per_sec = static_cast<double>(capacity_.rate(now, std::nullopt).bits_per_sec());
  return bits_per_sec * to_seconds(now - wire_free_at_) / static_cast<double>(link_->mtu.bits());
}

bool TraceDevice::offer(LinkPacket packet) {
  const Instant now = ns3_now();
  const DataSize size = packet.wire;
  sent_ += size;
  QueueArrival arrival{now, size};
  arrival.wire_is_free = queue_.empty() && wire_free_at_ <= now;
  if (arrival.wire_is_free) arrival.idle_packets = packets_since_idle(now);
  arrival.can_be_marked = can_be_marked(packet);
  if (!queue_.push(arrival, std::move(packet), mark)) {
    dropped_ += size;
    return false;
  }
  if (arrival.wire_is_free) {
    put_next_on_wire(now);
  } else if (!awaits_wire_ && wire_free_at_ != Instant::max()) {
    awaits_wire_ = true;
    ns3::Simulator::Schedule(ns3::NanoSeconds(to_ns(wire_free_at_ - now)), wire_event_);
  }
  return true;
}

std::optional<Instant> TraceDevice::finish(Instant now, const LinkPacket& packet) {
  const Nanobits amount = Nanobits::of(packet.wire);
  if (capacity_.by_chunk()) return capacity_.finish(now, amount, packet.chunk_index);
  if (now >= rate_until_) {
    rate_ = capacity_.rate(now, std::nullopt);
    rate_until_ = capacity_.next_change(now).value_or(Instant::max());
  }
  const std::optional<Duration> time = amount.time_at(rate_);
  if (time && *time <= rate_until_ - now) return now + *time;
  return capacity_.finish(now, amount, std::nullopt);
}

// Everything that will happen to the packet is known now, since the trace is: the wire's end with
// it, its loss and its arrival.
void TraceDevice::put_next_on_wire(Instant now) {
  std::optional<LinkPacket> packet =
      queue_.pop(now, [this](DataSize dropped) { dropped_ += dropped; });
  if (!packet) return;
  const std::optional<Instant> leaves_at = finish(now, *packet);
  wire_free_at_ = leaves_at.value_or(Instant::max());
  OnTheWay next{std::move(*packet), Instant::max()};
  if (leaves_at) {
    next.arrives_at = delay_.arrival(*leaves_at);
    next.is_lost = loss_.loses(*leaves_at);
  }
  on_the_way_size_ += next.packet.wire;
  on_the_way_.push_back(std::move(next));
  if (on_the_way_.size() == 1) await_arrival(now);
}

void TraceDevice::on_wire_free() {
  const Instant now = ns3_now();
  put_next_on_wire(now);
  awaits_wire_ = !queue_.empty() && wire_free_at_ != Instant::max();
  if (awaits_wire_)
    ns3::Simulator::Schedule(ns3::NanoSeconds(to_ns(wire_free_at_ - now)), wire_event_);
}

void TraceDevice::await_arrival(Instant now) {
  const Instant at = on_the_way_.front().arrives_at;
  if (at != Instant::max())
    ns3::Simulator::Schedule(ns3::NanoSeconds(to_ns(at - now)), arrival_event_);
}

void TraceDevice::on_arrival() {
  const OnTheWay arrived = on_the_way_.pop_front();
  const DataSize size = arrived.packet.wire;
  on_the_way_size_ -= size;
  (arrived.is_lost ? dropped_ : delivered_) += size;
  if (!on_the_way_.empty()) await_arrival(ns3_now());
  if (!arrived.is_lost) hand_over(arrived.packet);
}

void TraceDevice::hand_over(const LinkPacket& packet) {
  if (packet.owner) return packet.owner->on_arrival(packet);
  ns3::PppHeader ppp;  // the receiving device takes it off again; it is not on our wire
  ppp.SetProtocol(kPppIpv4);
  packet.ip->AddHeader(ppp);
  const auto channel = ns3::StaticCast<ns3::PointToPointChannel>(GetChannel());
  const auto first = channel->GetPointToPointDevice(0);
  const auto far_end = first == this ? channel->GetPointToPointDevice(1) : first;
  far_end->Receive(packet.ip);
}

LinkUsage TraceDevice::usage() const {
  LinkUsage usage;
  usage.wire_sent = sent_;
  usage.wire_delivered = delivered_;
  usage.wire_dropped = dropped_;
  usage.wire_in_flight = queue_.size() + on_the_way_size_;
  usage.capacity = LinkCapacity(*link_).offered_until(ns3_now()).value_or(delivered_);
  return usage;
}

std::vector<ns3::Ptr<TraceDevice>> make_devices(const TopologySpec& topology) {
  std::vector<ns3::Ptr<TraceDevice>> devices;
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkId link{static_cast<std::int32_t>(i)};
    devices.push_back(ns3::CreateObject<TraceDevice>(topology, link));
  }
  return devices;
}

}  // namespace sluice
