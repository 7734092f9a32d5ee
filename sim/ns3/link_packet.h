// What travels over a TraceDevice: a packet of our transport or one of ns-3's, with its size.
// Where in the flow: made by whoever sends, kept by the device, given to its owner at the far end.
// Surprise: a packet of ours is its fields alone; an ns-3 packet would cost more than all else that
// happens to it.
#pragma once

#include <ns3/packet.h>

#include "sim/net/transport/carrier.h"

namespace sluice {

struct LinkPacket;

// Takes the packets it sent at the far end of each link.
class PacketOwner {
 public:
  virtual ~PacketOwner() = default;
  virtual void on_arrival(const LinkPacket& packet) = 0;
};

struct LinkPacket {
  DataSize wire;                 // what it occupies of the link
  PacketOwner* owner = nullptr;  // none: it is `ip`, for the device at the far end
  PacketFields fields;           // of an owner's packet
  ns3::Ptr<ns3::Packet> ip;      // of ns-3's stack
  std::int64_t chunk_index = 0;  // on a chunk-clocked link
  std::uint32_t hop = 0;         // links of its route that it has passed
};

}  // namespace sluice
