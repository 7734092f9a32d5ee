#include "sim/ns3/trace_device.h"

#include <ns3/drop-tail-queue.h>
#include <ns3/nstime.h>
#include <ns3/point-to-point-channel.h>
#include <ns3/ppp-header.h>
#include <ns3/simulator.h>

#include <algorithm>

#include "sim/ns3/fields_tag.h"

namespace sluice {
namespace {

constexpr std::int64_t kQueueBytesMin =
    1;  // ns-3 ignores a limit of 0 and keeps its default of 100 packets
constexpr std::int64_t kQueueBytesMax = std::int64_t{1} << 31;  // ns-3 counts queues in 32 bits
constexpr std::uint16_t kPppIpv4 = 0x0021;                      // RFC 1332

}  // namespace

ns3::TypeId FieldsTag::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("sluice::FieldsTag").SetParent<ns3::Tag>().AddConstructor<FieldsTag>();
  return id;
}

void FieldsTag::Serialize(ns3::TagBuffer buffer) const {
  buffer.Write(reinterpret_cast<const std::uint8_t*>(&fields), sizeof fields);
}

void FieldsTag::Deserialize(ns3::TagBuffer buffer) {
  buffer.Read(reinterpret_cast<std::uint8_t*>(&fields), sizeof fields);
}

void FieldsTag::Print(std::ostream& out) const {
  out << "transfer " << fields.transfer << " number " << fields.number;
}

ns3::TypeId TraceDevice::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("sluice::TraceDevice").SetParent<ns3::PointToPointNetDevice>();
  return id;
}

TraceDevice::TraceDevice(const LinkSpec& link)
    : capacity_(link), queue_(ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>()) {
  const auto bytes = static_cast<std::uint32_t>(
      std::clamp(link.queue.limit.bytes(), kQueueBytesMin, kQueueBytesMax));
  queue_->SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::BYTES, bytes));
}

bool TraceDevice::Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& /*to*/,
                       std::uint16_t /*protocol*/) {
  const DataSize size = DataSize::bytes(packet->GetSize());
  sent_ += size;
  if (!is_busy_) {
    put_on_wire(packet);
    return true;
  }
  if (queue_->Enqueue(packet)) return true;
  dropped_ += size;
  return false;
}

void TraceDevice::put_on_wire(ns3::Ptr<ns3::Packet> packet) {
  is_busy_ = true;
  std::optional<std::int64_t> chunk;
  if (capacity_.by_chunk()) {
    FieldsTag tag;
    packet->PeekPacketTag(tag);
    chunk = tag.fields.chunk_index;
  }
  const Instant now = at_ns(ns3::Simulator::Now().GetNanoSeconds());
  const auto finish =
      capacity_.finish(now, Nanobits::of(DataSize::bytes(packet->GetSize())), chunk);
  if (!finish) return;  // an outage for ever: the wire stays busy
  ns3::Simulator::Schedule(ns3::NanoSeconds(to_ns(*finish - now)), &TraceDevice::on_sent, this,
                           packet);
}

void TraceDevice::on_sent(ns3::Ptr<ns3::Packet> packet) {
  ns3::PppHeader ppp;  // the receiving device takes it off again; it is not on our wire
  ppp.SetProtocol(kPppIpv4);
  packet->AddHeader(ppp);
  const auto channel = ns3::DynamicCast<ns3::PointToPointChannel>(GetChannel());
  channel->TransmitStart(packet, ns3::Ptr<ns3::PointToPointNetDevice>(this), ns3::Time(0));
  is_busy_ = false;
  if (const ns3::Ptr<ns3::Packet> next = queue_->Dequeue()) put_on_wire(next);
}

}  // namespace sluice
