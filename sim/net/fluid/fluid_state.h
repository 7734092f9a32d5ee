// What the fluid tier remembers of a transfer (Stream) and of a set of connections (Channel).
// Where in the flow: inside the fluid tier only; fluid_network.cc gives them life, fluid_flow.cc
// moves the data.
#pragma once

#include "sim/net/fluid/fluid_network.h"

namespace sluice {

struct FluidNetwork::Stream {
  enum class State { kFree, kRequested, kQueued, kFlowing, kSent };

  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  // of the slot: a TransferId is slot and generation
  State state = State::kFree;
  Transfer transfer;
  TransferListener* listener = nullptr;  // none: cancelled
  const Path* path = nullptr;            // none: it will fail
  Channel* channel = nullptr;
  Stream* next = nullptr;  // behind it in the channel

  Nanobits total, sent;  // wire data; `sent` as of the last event
  Nanobits limit;        // that it may reach before the next event
  DataRate rate;
  SentCurve curve;
  DataSize mark;     // payload whose arrival is told next; the whole size when only the end is
  Nanobits mark_at;  // the wire data that carry it
  bool first_byte_told = false;

  [[nodiscard]] TransferId id() const {
    return TransferId{(std::uint64_t{generation} << 32) | slot};
  }
  void set_mark(DataSize payload) {
    mark = std::min(payload, transfer.size);
    mark_at = Nanobits::of(path->framing.wire_size(mark));
  }
  // From `now` on it flows at `new_rate` and stops by itself at `new_limit`.
  void flow(Instant now, DataRate new_rate, Nanobits new_limit) {
    if (new_rate == rate && new_limit == limit) return;
    rate = new_rate;
    limit = new_limit;
    curve.set(now, sent, rate, limit);
  }
};

struct FluidNetwork::Channel {
  Channel(ConnectionGroup of, const TransportSpec& transport, const Path& path)
      : group(of), window(transport, path.framing, path.round_trip()) {}

  ConnectionGroup group;
  WindowRounds window;
  std::int32_t connections_asked = 0;  // the most that a transfer asked for
  Instant ready_at;                    // handshakes done
  Stream* head = nullptr;              // being answered
  Stream* tail = nullptr;              // requested last
  std::int32_t num_streams = 0;        // not yet released
  bool is_closed = false;

  void append(Stream& stream) {
    (head ? tail->next : head) = &stream;
    tail = &stream;
    stream.next = nullptr;
  }
  void pop() {
    Stream* const first = head;
    head = first->next;
    if (!head) tail = nullptr;
    first->next = nullptr;
  }
  void remove(Stream& stream) {
    if (head == &stream) return pop();
    for (Stream* before = head; before; before = before->next) {
      if (before->next != &stream) continue;
      before->next = stream.next;
      if (tail == &stream) tail = before;
      stream.next = nullptr;
      return;
    }
  }
  [[nodiscard]] bool is_flowing() const { return head && !window.is_exhausted(); }
};

}  // namespace sluice
