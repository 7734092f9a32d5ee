// The schedule of one direction of an emulated link: when each packet leaves the queue, whether it
// is lost, when it arrives. No sockets, no threads, no real clock.
// Where in the flow: fed by a direction of the TUN link, whose thread sends what has arrived.
// Surprise: its clock is logical. A packet's instants follow from the instants of those before it
// and not from when advance() is called, so that a late caller catches up and lateness never adds
// up.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ring.h"
#include "sim/net/capacity.h"
#include "sim/net/link/link_queue.h"
#include "sim/net/link/packet_fate.h"
#include "sim/net/network.h"

namespace sluice {

// One IP packet. Those of one frame (a super-segment of segmentation offload) come one after the
// other.
struct WirePacket {
  std::uint64_t frame = 0;
  std::int32_t index = 0, num_packets = 1;  // which one of how many in its frame
  DataSize wire;                            // with its headers
  bool can_be_marked = false;               // ECN-capable (RFC 3168)
  bool is_marked = false;
};

// A packet that has left the queue: all that will happen to it is known.
struct PacketOnWire {
  WirePacket packet;
  Instant arrives_at = Instant::max();  // its last bit; max(): an outage without end
  bool is_lost = false;
};

// Packets that arrive together.
struct DueRun {
  std::size_t num_packets = 0;
  Instant at;  // when the last one of them arrives
};

class LinkSchedule {
 public:
  // `link` has a time-clocked trace and must outlive it; `id` and `seed` name its random numbers.
  LinkSchedule(const LinkSpec& link, LinkId id, std::uint64_t seed);

  // A packet comes to the link. False: the queue dropped it. Instants must not go back, here and
  // below.
  bool offer(Instant at, WirePacket packet);
  // Lets all leave the queue that had done so by `now`. After it what waits, waits for a packet on
  // the way.
  void advance(Instant now);
  // What has left the queue and has not been taken, in the order of arrival.
  [[nodiscard]] const Ring<PacketOnWire>& on_the_way() const { return on_the_way_; }
  // The packets of the first one's frame that are to be taken together: as many as follow it
  // without a gap, and arrive within `span` of it, with one fate. While it may still grow, `at`
  // is a guess of when its last packet will arrive. Needs one that is on the way.
  [[nodiscard]] DueRun next_run(Duration span) const;
  // The first packet on the way has arrived and is taken.
  PacketOnWire take();
  [[nodiscard]] LinkUsage usage(Instant now) const;

 private:
  void put_next_on_wire(Instant now);
  [[nodiscard]] std::optional<Instant> finish(Instant start, DataSize wire);
  [[nodiscard]] double packets_since_idle(Instant now) const;

  const LinkSpec* link_;
  LinkCapacity capacity_;
  LinkQueue<WirePacket> queue_;
  PacketLoss loss_;
  PacketDelay delay_;
  Ring<PacketOnWire> on_the_way_;
  Instant wire_free_at_;
  DataRate rate_;       // since the last packet began, until
  Instant rate_until_;  // (a memory of the trace, so that it is not searched for each packet)
  DataSize sent_, delivered_, dropped_, on_the_way_size_;
};

}  // namespace sluice
