// What the transport needs below it: something that carries packets along links, with queues, and
// may drop them.
// Where in the flow: between the transport (no ns-3) and the ns-3 devices (no transport).
// Surprise: a packet of the carrier may stand for many of the link's: `wire` counts all of them
// with their headers.
#pragma once

#include <cstdint>

#include "sim/net/network.h"

namespace sluice {

enum class PacketKind : std::uint8_t {
  kOpen,     // to the sender of data: open connections
  kOpened,   // to the receiver: they are open
  kRequest,  // to the sender: send this transfer
  kStop,     // to the sender: send no more of this transfer
  kData,     // to the receiver
  kAck,      // to the sender
};

// The fields that matter to the transport; plain values, copied as bytes.
struct PacketFields {
  PacketKind kind = PacketKind::kData;
  bool is_last = false;         // kData: of its transfer
  bool is_late = false;         // kAck: it was kept back
  bool answers_opened = false;  // kRequest: sent when kOpened came
  std::int32_t connection = 0;  // kData, kAck: which; kOpen, kOpened: how many
  std::int32_t route = 0;
  std::uint64_t channel = 0;
  std::uint64_t transfer = 0;
  std::uint64_t number = 0;        // kData: of the copy; kAck: of the newest that came
  std::uint64_t first_number = 0;  // kAck: since which none before `number` is missing
  std::uint64_t sequence = 0;      // kData: of the segment; kAck: the next expected
  std::int64_t payload_bytes = 0;  // kData
  std::int64_t chunk_index = 0;    // for chunk-clocked links
};

class PacketReceiver {
 public:
  virtual ~PacketReceiver() = default;
  virtual void on_packet(const PacketFields& fields) = 0;
};

class Carrier {
 public:
  virtual ~Carrier() = default;
  // Makes a route of these links known; returns its number.
  virtual std::int32_t add_route(const Route& links) = 0;
  // Sends along fields.route; what is not dropped arrives at the receiver set below, in order.
  virtual void send(const PacketFields& fields, DataSize wire) = 0;
  // It must outlive all sending.
  virtual void set_receiver(PacketReceiver& receiver) = 0;
  [[nodiscard]] virtual LinkUsage usage(LinkId link) const = 0;
};

}  // namespace sluice
