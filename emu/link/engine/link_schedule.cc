#include "emu/link/engine/link_schedule.h"

#include <algorithm>

#include "base/assert.h"
#include "base/nanobits.h"

namespace sluice {
namespace {

RandomStream queue_random(LinkId id, std::uint64_t seed) {
  return RandomStream(seed, "queue", static_cast<std::uint64_t>(id.value));
}

bool follows(const PacketOnWire& next, const PacketOnWire& last) {
  return next.packet.frame == last.packet.frame && next.packet.index == last.packet.index + 1 &&
         next.is_lost == last.is_lost && next.packet.is_marked == last.packet.is_marked;
}

}  // namespace

LinkSchedule::LinkSchedule(const LinkSpec& link, LinkId id, std::uint64_t seed)
    : link_(&link),
      capacity_(link),
      queue_(link, queue_random(id, seed)),
      loss_(link, id, seed),
      delay_(link, id, seed) {
  SLUICE_ASSERT(!capacity_.by_chunk(), "an emulated link runs by time");
}

// RED lets its average sink while the wire is idle.
double LinkSchedule::packets_since_idle(Instant now) const {
  if (!std::holds_alternative<Red>(link_->queue.discipline)) return 0;
  const auto bits_per_sec = static_cast<double>(capacity_.rate(now, std::nullopt).bits_per_sec());
  return bits_per_sec * to_seconds(now - wire_free_at_) / static_cast<double>(link_->mtu.bits());
}

bool LinkSchedule::offer(Instant at, WirePacket packet) {
  advance(at);
  const DataSize wire = packet.wire;
  sent_ += wire;
  QueueArrival arrival{at, wire};
  arrival.wire_is_free = queue_.empty() && wire_free_at_ <= at;
  if (arrival.wire_is_free) arrival.idle_packets = packets_since_idle(at);
  arrival.can_be_marked = packet.can_be_marked;
  if (!queue_.push(arrival, packet, [](WirePacket& marked) { marked.is_marked = true; })) {
    dropped_ += wire;
    return false;
  }
  if (arrival.wire_is_free) put_next_on_wire(at);
  return true;
}

void LinkSchedule::advance(Instant now) {
  while (!queue_.empty() && wire_free_at_ <= now) put_next_on_wire(wire_free_at_);
}

std::optional<Instant> LinkSchedule::finish(Instant start, DataSize wire) {
  const Nanobits amount = Nanobits::of(wire);
  if (start >= rate_until_) {
    rate_ = capacity_.rate(start, std::nullopt);
    rate_until_ = capacity_.next_change(start).value_or(Instant::max());
  }
  const std::optional<Duration> time = amount.time_at(rate_);
  if (time && *time <= rate_until_ - start) return start + *time;
  return capacity_.finish(start, amount, std::nullopt);
}

void LinkSchedule::put_next_on_wire(Instant now) {
  const std::optional<WirePacket> packet =
      queue_.pop(now, [this](DataSize dropped) { dropped_ += dropped; });
  if (!packet) return;
  const std::optional<Instant> leaves_at = finish(now, packet->wire);
  wire_free_at_ = leaves_at.value_or(Instant::max());
  PacketOnWire next{*packet};
  if (leaves_at) {
    next.arrives_at = delay_.arrival(*leaves_at);
    next.is_lost = loss_.loses(*leaves_at);
  }
  on_the_way_size_ += packet->wire;
  on_the_way_.push_back(next);
}

DueRun LinkSchedule::next_run(Duration span) const {
  const PacketOnWire& first = on_the_way_.front();
  if (first.arrives_at == Instant::max()) return {1, Instant::max()};
  const Instant until = first.arrives_at + span;
  DueRun run{1, first.arrives_at};
  while (run.num_packets < on_the_way_.size()) {
    const PacketOnWire& next = on_the_way_[run.num_packets];
    if (!follows(next, on_the_way_[run.num_packets - 1]) || next.arrives_at > until) return run;
    run.at = next.arrives_at;
    ++run.num_packets;
  }
  // The rest of the frame waits still, at the head of the queue.
  const WirePacket& last = on_the_way_[run.num_packets - 1].packet;
  const std::int64_t num_waiting = queue_.empty() ? 0 : last.num_packets - 1 - last.index;
  if (num_waiting == 0) return run;
  const std::optional<Duration> rest = Nanobits::of(last.wire * num_waiting).time_at(rate_);
  run.at = rest ? std::min(until, run.at + std::min(span, *rest)) : until;
  return run;
}

PacketOnWire LinkSchedule::take() {
  const PacketOnWire taken = on_the_way_.pop_front();
  on_the_way_size_ -= taken.packet.wire;
  (taken.is_lost ? dropped_ : delivered_) += taken.packet.wire;
  return taken;
}

LinkUsage LinkSchedule::usage(Instant now) const {
  LinkUsage usage;
  usage.wire_sent = sent_;
  usage.wire_delivered = delivered_;
  usage.wire_dropped = dropped_;
  usage.wire_in_flight = queue_.size() + on_the_way_size_;
  usage.capacity = capacity_.offered_until(now).value_or(delivered_);
  return usage;
}

}  // namespace sluice
