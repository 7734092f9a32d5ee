// The life of a transfer: asked for, requested, answered, arrived, or cancelled. How data flow:
// fluid_flow.cc.
#include "sim/net/fluid/fluid_network.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "sim/net/fluid/fluid_state.h"

namespace sluice {

FluidNetwork::FluidNetwork(Clock& clock, TopologySpec topology, const TransportSpec& transport)
    : clock_(clock),
      topology_(std::move(topology)),
      transport_(transport),
      paths_(topology_, transport_),
      links_(topology_.links.size()),
      capacity_now_(topology_.links.size()) {
  SLUICE_ASSERT(check_topology(topology_, transport_).ok(), "the topology was not checked");
  for (std::size_t i = 0; i < topology_.links.size(); ++i) {
    capacity_.emplace_back(topology_.links[i]);
    links_[i].curve.restart(topology_.links[i].delay);
  }
}

FluidNetwork::~FluidNetwork() {
  clock_.cancel(timer_);
}

FluidNetwork::Stream& FluidNetwork::take_slot(const Transfer& transfer,
                                              TransferListener& listener) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(streams_.size()));
    streams_.push_back(std::make_unique<Stream>());
    streams_.back()->slot = free_slots_.back();
  }
  Stream& stream = *streams_[free_slots_.back()];
  free_slots_.pop_back();
  ++stream.generation;
  stream.state = Stream::State::kRequested;
  stream.transfer = transfer;
  stream.listener = &listener;
  stream.path = nullptr;
  stream.channel = nullptr;
  stream.sent = stream.limit = Nanobits{};
  stream.rate = DataRate{};
  stream.first_byte_told = false;
  return stream;
}

void FluidNetwork::release(Stream& stream) {
  stream.state = Stream::State::kFree;
  stream.listener = nullptr;
  free_slots_.push_back(stream.slot);
  if (!stream.channel) return;
  --stream.channel->num_streams;
  drop_if_closed(*stream.channel);
}

const FluidNetwork::Stream* FluidNetwork::find(TransferId id) const {
  const std::uint64_t slot = id.value & std::numeric_limits<std::uint32_t>::max();
  if (slot >= streams_.size()) return nullptr;
  const Stream& stream = *streams_[slot];
  return stream.state != Stream::State::kFree && stream.id() == id ? &stream : nullptr;
}

FluidNetwork::Stream* FluidNetwork::find(TransferId id) {
  return const_cast<Stream*>(static_cast<const FluidNetwork*>(this)->find(id));
}

FluidNetwork::Channel& FluidNetwork::channel_for(const Transfer& transfer, const Path& path) {
  const ChannelKey key{transfer.group, transfer.from, transfer.to};
  Channel& channel = channels_.try_emplace(key, transfer.group, transport_, path).first->second;
  channel.is_closed = false;
  return channel;
}

// A connection is opened by one round trip, once; all new ones at the same time.
Instant FluidNetwork::request_arrives(Channel& channel, const Transfer& transfer) {
  const Path& path = *paths_.find(transfer.from, transfer.to, transfer.group);
  if (transport_.handshake && transfer.connections > channel.connections_asked) {
    channel.ready_at = clock_.now() + path.round_trip();
  }
  channel.connections_asked = std::max(channel.connections_asked, transfer.connections);
  return std::max(clock_.now(), channel.ready_at) + path.backward;
}

TransferId FluidNetwork::start(const Transfer& transfer, TransferListener& listener) {
  SLUICE_ASSERT(transfer.size >= DataSize::zero() && transfer.connections >= 1,
                "a transfer of nothing known");
  Stream& stream = take_slot(transfer, listener);
  const TransferId id = stream.id();
  if (const auto why = paths_.refuse(transfer)) {
    clock_.schedule(clock_.now(), [this, id, why] { fail(id, *why); });
    return id;
  }
  const Path* path = paths_.find(transfer.from, transfer.to, transfer.group);
  stream.path = path;
  stream.channel = &channel_for(transfer, *path);
  ++stream.channel->num_streams;
  stream.total = Nanobits::of(path->framing.wire_size(transfer.size));
  stream.curve.restart(path->forward);
  stream.set_mark(DataSize::bytes(1));
  clock_.schedule(request_arrives(*stream.channel, transfer), [this, id] { on_request(id); });
  return id;
}

void FluidNetwork::fail(TransferId id, TransferFailure why) {
  Stream* stream = find(id);
  if (stream->listener) stream->listener->on_failure(id, why);
  release(*stream);
}

void FluidNetwork::on_request(TransferId id) {
  Stream* stream = find(id);
  if (!stream) return;  // stopped before its connection was open
  settle();
  Channel& channel = *stream->channel;
  stream->state = Stream::State::kQueued;
  const bool was_idle = !channel.head;
  channel.append(*stream);
  if (was_idle) {
    busy_.push_back(&channel);
    serve_next(channel, clock_.now());
  }
  reshare_and_arm();
}

DataSize FluidNetwork::cancel(TransferId id) {
  Stream* stream = find(id);
  if (!stream || !stream->listener) return DataSize::zero();
  const DataSize came = delivered(id);
  stream->listener = nullptr;
  if (stream->path) clock_.schedule_in(stream->path->backward, [this, id] { on_stop(id); });
  return came;
}

void FluidNetwork::on_stop(TransferId id) {
  settle();
  Stream* stream = find(id);
  if (!stream || stream->state == Stream::State::kSent) return reshare_and_arm();
  Channel& channel = *stream->channel;
  const bool was_head = channel.head == stream;
  channel.remove(*stream);
  if (was_head) serve_next(channel, clock_.now());
  release(*stream);
  reshare_and_arm();
}

void FluidNetwork::on_mark_arrived(TransferId id) {
  Stream* stream = find(id);
  if (!stream || !stream->listener) return;
  if (stream->first_byte_told) {
    stream->listener->on_progress(id, delivered(id));
  } else {
    stream->first_byte_told = true;
    stream->listener->on_first_byte(id);
  }
}

void FluidNetwork::on_last_byte_arrived(TransferId id) {
  Stream* stream = find(id);
  if (!stream->first_byte_told && stream->transfer.size > DataSize::zero()) on_mark_arrived(id);
  if (stream->listener) stream->listener->on_complete(id);
  release(*stream);
}

DataSize FluidNetwork::delivered(TransferId id) const {
  const Stream* stream = find(id);
  if (!stream || !stream->path || !stream->listener) return DataSize::zero();
  const Nanobits arrived = stream->curve.at(clock_.now() - stream->path->forward);
  return std::min(stream->transfer.size,
                  stream->path->framing.payload_within(arrived.whole_bytes()));
}

void FluidNetwork::close(ConnectionGroup group) {
  constexpr NodeId kFirst{std::numeric_limits<std::int32_t>::min()};
  auto next = channels_.lower_bound(ChannelKey{group, kFirst, kFirst});
  while (next != channels_.end() && next->second.group == group) {
    Channel& channel = next->second;
    ++next;  // before the channel may go
    channel.is_closed = true;
    for (std::size_t i = 0; channel.num_streams > 0 && i < streams_.size(); ++i) {
      if (streams_[i]->state != Stream::State::kFree && streams_[i]->channel == &channel)
        cancel(streams_[i]->id());
    }
    drop_if_closed(channel);
  }
}

void FluidNetwork::drop_if_closed(Channel& channel) {
  if (!channel.is_closed || channel.num_streams > 0) return;
  for (auto& [key, candidate] : channels_) {
    if (&candidate != &channel) continue;
    std::erase(busy_, &channel);
    channels_.erase(key);
    return;
  }
}

std::optional<Duration> FluidNetwork::round_trip(NodeId from, NodeId to,
                                                 ConnectionGroup group) const {
  const Path* path = paths_.find(from, to, group);
  return path ? std::optional{path->round_trip()} : std::nullopt;
}

DataRate FluidNetwork::capacity_ahead(NodeId from, NodeId to, ConnectionGroup group,
                                      std::optional<std::int64_t> chunk_index) const {
  const Path* path = paths_.find(from, to, group);
  return path ? narrowest_rate(*path, capacity_, clock_.now(), chunk_index) : DataRate::zero();
}

LinkUsage FluidNetwork::usage(LinkId link) const {
  const auto index = static_cast<std::size_t>(link.value);
  SLUICE_ASSERT(index < links_.size(), "usage of a link that does not exist");
  const SentCurve& curve = links_[index].curve;
  LinkUsage usage;
  usage.wire_sent = curve.at(clock_.now()).whole_bytes();
  usage.wire_delivered = curve.at(clock_.now() - topology_.links[index].delay).whole_bytes();
  usage.wire_in_flight = usage.wire_sent - usage.wire_delivered;
  usage.capacity = capacity_[index].offered_until(clock_.now()).value_or(usage.wire_sent);
  return usage;
}

}  // namespace sluice
