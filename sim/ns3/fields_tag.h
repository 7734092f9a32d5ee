// Carries the transport's fields through ns-3: a packet tag, which adds nothing to the packet's
// size.
// Where in the flow: inside the ns-3 carrier; the size of an ns-3 packet is exactly what it
// occupies on the wire.
#pragma once

#include <ns3/tag.h>

#include "sim/net/transport/carrier.h"

namespace sluice {

class FieldsTag final : public ns3::Tag {
 public:
  static ns3::TypeId GetTypeId();
  FieldsTag() = default;
  explicit FieldsTag(const PacketFields& of) : fields(of) {}
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  std::uint32_t GetSerializedSize() const override { return sizeof(PacketFields); }
  void Serialize(ns3::TagBuffer buffer) const override;
  void Deserialize(ns3::TagBuffer buffer) override;
  void Print(std::ostream& out) const override;

  PacketFields fields;
};

}  // namespace sluice
