// The packets that wait for a link: in order, within a limit in bytes, thinned by the discipline.
// Where in the flow: at the sending end of each link of the tiers with packets.
// Surprise: the packet on the wire does not count against the limit, so that a queue of no bytes
// still sends what finds the wire free.
#pragma once

#include <type_traits>

#include "base/ring.h"
#include "sim/net/link/queue_laws.h"
#include "sim/net/network.h"

namespace sluice {

// A packet that comes to a queue.
struct QueueArrival {
  Instant at;
  DataSize size;
  bool wire_is_free = false;   // and nothing waits: it leaves the queue at once
  bool can_be_marked = false;  // ECN-capable (RFC 3168)
  double idle_packets = 0;  // of the largest size, that the wire could have sent since it fell idle
};

template <typename Packet>
class LinkQueue {
 public:
  LinkQueue(const LinkSpec& link, RandomStream random)
      : limit_(link.queue.limit), law_(law_of(link, random)) {}
  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] DataSize size() const { return size_; }
  // Whether some packets are marked instead of dropped.
  [[nodiscard]] bool marks() const {
    const auto* const red = std::get_if<RedLaw>(&law_);
    return red != nullptr && red->marks();
  }
  // False: it was dropped. What is marked is given to `on_mark(Packet&)` before it waits.
  template <typename OnMark>
  [[nodiscard]] bool push(const QueueArrival& arrival, Packet packet, OnMark&& on_mark) {
    auto* const red = std::get_if<RedLaw>(&law_);
    const bool is_taken = red && red->takes(size_, arrival.idle_packets);
    if (is_taken && !(red->marks() && arrival.can_be_marked)) return false;
    if (!has_room_for(arrival)) return false;
    if (is_taken) on_mark(packet);
    size_ += arrival.size;
    waiting_.push_back({std::move(packet), arrival.size, arrival.at});
    return true;
  }
  // The next packet for the wire. What the discipline drops on the way is given to
  // `on_drop(DataSize)`. nullopt: none is left.
  template <typename OnDrop>
  [[nodiscard]] std::optional<Packet> pop(Instant now, OnDrop&& on_drop) {
    auto* const codel = std::get_if<CoDelLaw>(&law_);
    while (!waiting_.empty()) {
      Waiting next = waiting_.pop_front();
      size_ -= next.size;
      if (!codel || !codel->drops(now, now - next.since, size_)) return std::move(next.packet);
      on_drop(next.size);
    }
    if (codel) codel->on_empty();
    return std::nullopt;
  }

 private:
  struct Waiting {
    Packet packet;
    DataSize size;
    Instant since;
  };
  using Law = std::variant<DropTail, CoDelLaw, RedLaw>;

  static Law law_of(const LinkSpec& link, const RandomStream& random) {
    if (const auto* codel = std::get_if<CoDel>(&link.queue.discipline))
      return CoDelLaw(*codel, link.mtu);
    if (const auto* red = std::get_if<Red>(&link.queue.discipline)) return RedLaw(*red, random);
    return DropTail{};
  }
  bool has_room_for(const QueueArrival& arrival) {
    if (!arrival.wire_is_free) return size_ + arrival.size <= limit_;
    // When the wire fell free it had asked for a packet and found none.
    if (auto* codel = std::get_if<CoDelLaw>(&law_)) codel->on_empty();
    return true;
  }

  DataSize limit_, size_;
  Law law_;
  Ring<Waiting> waiting_;
};

}  // namespace sluice
