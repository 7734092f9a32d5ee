// What the fluid tier remembers of a transfer (FluidStream) and of a set of connections
// (FluidChannel).
// Where in the flow: inside the fluid tier only; fluid_network.cc gives them life, fluid_flow.cc
// moves the data.
#pragma once

#include <limits>

#include "sim/net/fluid/event_heap.h"
#include "sim/net/fluid/fluid_path.h"
#include "sim/net/fluid/sent_curve.h"

namespace sluice {

inline constexpr DataRate kUnlimited =
    DataRate::bits_per_sec(std::numeric_limits<std::int64_t>::max());

struct FluidStream {
  enum class State { kFree, kRequested, kQueued, kSent };

  TransferId id;  // its slot, and 2^32 times the slot's generation
  State state = State::kFree;
  Transfer transfer;
  TransferListener* listener = nullptr;             // none: cancelled
  FluidChannel* channel = nullptr;                  // none: it will fail
  FluidStream* next = nullptr;                      // behind it in the channel's queue
  FluidStream *before = nullptr, *after = nullptr;  // in the channel's list of members

  Nanobits total;    // wire data
  SentCurve curve;   // of them
  DataSize mark;     // payload whose arrival is told next; the whole size when only the end is
  Nanobits mark_at;  // the wire data that carry it
  bool first_byte_told = false;

  [[nodiscard]] std::uint32_t slot() const { return static_cast<std::uint32_t>(id.value); }
  void begin_generation() { id.value += std::uint64_t{1} << 32; }
  [[nodiscard]] bool has_mark() const { return mark < transfer.size; }
  void set_mark(const FluidPath& path, DataSize payload) {
    mark = std::min(payload, transfer.size);
    if (has_mark()) mark_at = path.wire_amount(mark);
  }
  // The next whole multiple of progress_every, if the listener wants any.
  void set_next_mark(const FluidPath& path) {
    const DataSize step = transfer.progress_every;
    const bool wants = step > DataSize::zero();
    set_mark(path, wants ? step * (mark.bytes() / step.bytes() + 1) : transfer.size);
  }
};

struct FluidChannel {
  // How far the head of the queue is, and the window, at an instant.
  struct Progress {
    Instant at;
    Nanobits sent;
    WindowRounds window;
  };

  ConnectionGroup group;
  NodeId from, to;
  const FluidPath* path = nullptr;
  FluidChannel* next_of_group = nullptr;
  std::int32_t connections_asked = 0;            // the most that a transfer asked for
  Instant ready_at;                              // handshakes done
  FluidStream* members = nullptr;                // not yet released, in no order
  FluidStream *head = nullptr, *tail = nullptr;  // being answered, requested last
  bool is_closed = false;

  Progress now;           // as of the last event that touched it
  Progress planned;       // of a channel alone on its links: how far its curves are drawn
  bool is_alone = false;  // on its links, which is when `planned` means something
  bool is_on_links = false;
  DataRate rate;   // of one that is not alone, until the next event
  Nanobits limit;  // that it may reach before then

  Instant changes_at = Instant::max();       // something ends or begins
  Instant mark_arrives_at = Instant::max();  // only the listener is to be told
  Instant next_at;                           // the earlier of the two, kept by the heap
  std::size_t heap_index = EventHeap<FluidChannel>::kNotInHeap;
  std::uint64_t order = 0;  // in which channels began to be busy
  std::uint64_t seen = 0;   // the last search that came by

  [[nodiscard]] std::span<const LinkId> links() const { return path->path->links; }
  [[nodiscard]] bool is_flowing() const { return head && !now.window.is_exhausted(); }
  [[nodiscard]] std::int32_t connections() const { return head->transfer.connections; }

  void add_member(FluidStream& stream) {
    stream.before = nullptr;
    stream.after = members;
    if (members) members->before = &stream;
    members = &stream;
  }
  void remove_member(FluidStream& stream) {
    (stream.before ? stream.before->after : members) = stream.after;
    if (stream.after) stream.after->before = stream.before;
  }
  void append(FluidStream& stream) {
    (head ? tail->next : head) = &stream;
    tail = &stream;
    stream.next = nullptr;
  }
  void pop() {
    FluidStream* const first = head;
    head = first->next;
    if (!head) tail = nullptr;
    first->next = nullptr;
  }
  void remove(FluidStream& stream) {
    if (head == &stream) return pop();
    for (FluidStream* ahead = head; ahead; ahead = ahead->next) {
      if (ahead->next != &stream) continue;
      ahead->next = stream.next;
      if (tail == &stream) tail = ahead;
      stream.next = nullptr;
      return;
    }
  }
};

}  // namespace sluice
