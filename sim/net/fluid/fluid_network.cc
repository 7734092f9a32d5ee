// The life of a transfer: asked for, requested, answered, arrived, or cancelled. How data flow:
// fluid_flow.cc.
#include "sim/net/fluid/fluid_network.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace sluice {

FluidNetwork::FluidNetwork(Clock& clock, TopologySpec topology, const TransportSpec& transport)
    : clock_(clock),
      topology_(std::move(topology)),
      transport_(transport),
      paths_(topology_, transport_),
      capacity_now_(topology_.links.size()) {
  for (const LinkSpec& link : topology_.links) capacity_.emplace_back(link);
  std::vector<Route> steady_routes;
  for (std::size_t i = 0; i < topology_.steady_flows.size(); ++i)
    steady_routes.push_back(steady_route(topology_, i));
  links_.reserve(topology_.links.size());
  for (std::size_t i = 0; i < topology_.links.size(); ++i) {
    links_.emplace_back(topology_, steady_routes, capacity_, LinkId{static_cast<std::int32_t>(i)});
  }
}

FluidNetwork::~FluidNetwork() {
  clock_.cancel(timer_);
}

FluidStream& FluidNetwork::take_slot(const Transfer& transfer, TransferListener& listener) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(streams_.size()));
    streams_.push_back(std::make_unique<FluidStream>());
    streams_.back()->id = TransferId{free_slots_.back()};
  }
  FluidStream& stream = *streams_[free_slots_.back()];
  free_slots_.pop_back();
  stream.begin_generation();
  stream.state = FluidStream::State::kRequested;
  stream.transfer = transfer;
  stream.listener = &listener;
  stream.channel = nullptr;
  stream.first_byte_told = false;
  return stream;
}

void FluidNetwork::release(FluidStream& stream) {
  stream.state = FluidStream::State::kFree;
  stream.listener = nullptr;
  free_slots_.push_back(stream.slot());
  if (!stream.channel) return;
  stream.channel->remove_member(stream);
  drop_if_closed(*stream.channel);
}

FluidStream* FluidNetwork::find(TransferId id) const {
  const std::uint64_t slot = id.value & std::numeric_limits<std::uint32_t>::max();
  if (slot >= streams_.size()) return nullptr;
  FluidStream& stream = *streams_[slot];
  return stream.state != FluidStream::State::kFree && stream.id == id ? &stream : nullptr;
}

const FluidPath& FluidNetwork::fluid_path(const Path& path) {
  if (path.number >= fluid_paths_.size()) fluid_paths_.resize(path.number + 1);
  std::unique_ptr<FluidPath>& slot = fluid_paths_[path.number];
  if (!slot) slot = std::make_unique<FluidPath>(topology_, transport_, path);
  return *slot;
}

FluidChannel* FluidNetwork::last_channel_for(NodeId from, NodeId to, ConnectionGroup group) const {
  FluidChannel* const last = last_channel_;
  return last && last->group == group && last->from == from && last->to == to ? last : nullptr;
}

FluidChannel& FluidNetwork::channel_for(const Transfer& transfer, const Path& path) {
  FluidChannel*& first = groups_[transfer.group.value];
  for (FluidChannel* channel = first; channel; channel = channel->next_of_group) {
    if (channel->from == transfer.from && channel->to == transfer.to) return *channel;
  }
  if (free_channels_.empty()) {
    channels_.push_back(std::make_unique<FluidChannel>());
    free_channels_.push_back(channels_.back().get());
  }
  FluidChannel& channel = *free_channels_.back();
  free_channels_.pop_back();
  channel = FluidChannel{};
  channel.group = transfer.group;
  channel.from = transfer.from;
  channel.to = transfer.to;
  channel.path = &fluid_path(path);
  channel.next_of_group = first;
  first = &channel;
  return channel;
}

void FluidNetwork::drop_if_closed(FluidChannel& channel) {
  if (!channel.is_closed || channel.members) return;
  const auto group = groups_.find(channel.group.value);
  FluidChannel** link = &group->second;
  while (*link != &channel) link = &(*link)->next_of_group;
  *link = channel.next_of_group;
  if (!group->second) groups_.erase(group);
  free_channels_.push_back(&channel);
  if (last_channel_ == &channel) last_channel_ = nullptr;
}

// A connection is opened by one round trip, once; all new ones at the same time.
Instant FluidNetwork::request_arrives(FluidChannel& channel, const Transfer& transfer) const {
  const FluidPath& path = *channel.path;
  if (transport_.handshake && transfer.connections > channel.connections_asked) {
    const Instant heard = clock_.now() + path.backward.delay_at(clock_.now());
    channel.ready_at = heard + path.forward.delay_at(heard);
  }
  channel.connections_asked = std::max(channel.connections_asked, transfer.connections);
  const Instant asks = std::max(clock_.now(), channel.ready_at);
  return asks + path.backward.delay_at(asks);
}

TransferId FluidNetwork::start(const Transfer& transfer, TransferListener& listener) {
  SLUICE_ASSERT(transfer.size >= DataSize::zero() && transfer.connections >= 1,
                "a transfer of nothing known");
  FluidStream& stream = take_slot(transfer, listener);
  const TransferId id = stream.id;
  FluidChannel* const last = last_channel_for(transfer.from, transfer.to, transfer.group);
  const Path* path =
      last ? last->path->path : paths_.find(transfer.from, transfer.to, transfer.group);
  if (const auto why = refuse(path, transfer)) {
    clock_.schedule(clock_.now(), [this, id, why] { fail(id, *why); });
    return id;
  }
  FluidChannel& channel = last ? *last : channel_for(transfer, *path);
  last_channel_ = &channel;
  channel.is_closed = false;
  stream.channel = &channel;
  channel.add_member(stream);
  stream.total = channel.path->wire_amount(transfer.size);
  stream.curve.restart(channel.path->forward.longest());
  stream.set_mark(*channel.path, DataSize::bytes(1));
  clock_.schedule(request_arrives(channel, transfer), [this, id] { on_request(id); });
  return id;
}

void FluidNetwork::fail(TransferId id, TransferFailure why) {
  FluidStream* stream = find(id);
  if (stream->listener) stream->listener->on_failure(id, why);
  release(*stream);
}

void FluidNetwork::on_request(TransferId id) {
  FluidStream* stream = find(id);
  if (!stream) return;  // stopped before its connection was open
  const Instant now = clock_.now();
  FluidChannel& channel = *stream->channel;
  gather(channel);
  settle_gathered(now);
  stream->state = FluidStream::State::kQueued;
  const bool was_idle = !channel.head;
  channel.append(*stream);
  if (was_idle) {
    channel.order = next_order_++;
    begin_head(channel, now);
  }
  reshare(now);
  finish_event();
}

DataSize FluidNetwork::cancel(TransferId id) {
  FluidStream* stream = find(id);
  if (!stream || !stream->listener) return DataSize::zero();
  const DataSize came = delivered(id);
  stream->listener = nullptr;
  if (!stream->channel) return came;
  const Duration until_heard = stream->channel->path->backward.delay_at(clock_.now());
  clock_.schedule_in(until_heard, [this, id] { on_stop(id); });
  return came;
}

void FluidNetwork::on_stop(TransferId id) {
  FluidStream* stream = find(id);
  if (!stream) return;
  const Instant now = clock_.now();
  FluidChannel& channel = *stream->channel;
  gather(channel);
  settle_gathered(now);
  if (stream->state != FluidStream::State::kSent) {
    const bool was_head = channel.head == stream;
    channel.remove(*stream);
    if (was_head) begin_head(channel, now);
  }
  reshare(now);
  // What has left arrives unheard.
  if (stream->state != FluidStream::State::kSent) release(*stream);
  finish_event();
}

void FluidNetwork::on_mark_arrived(TransferId id) {
  FluidStream* stream = find(id);
  if (!stream || !stream->listener) return;
  if (stream->first_byte_told) {
    stream->listener->on_progress(id, delivered(id));
  } else {
    stream->first_byte_told = true;
    stream->listener->on_first_byte(id);
  }
}

void FluidNetwork::on_last_byte_arrived(TransferId id) {
  FluidStream* stream = find(id);
  if (!stream->first_byte_told && stream->transfer.size > DataSize::zero()) on_mark_arrived(id);
  if (stream->listener) stream->listener->on_complete(id);
  release(*stream);
}

DataSize FluidNetwork::delivered(TransferId id) const {
  const FluidStream* stream = find(id);
  if (!stream || !stream->channel || !stream->listener) return DataSize::zero();
  const FluidPath& path = *stream->channel->path;
  const Nanobits arrived = stream->curve.at(path.forward.arrived_by(clock_.now()));
  return std::min(stream->transfer.size, path.payload_in(arrived));
}

void FluidNetwork::close(ConnectionGroup group) {
  const auto found = groups_.find(group.value);
  FluidChannel* next = found == groups_.end() ? nullptr : found->second;
  while (next) {
    FluidChannel& channel = *next;
    next = channel.next_of_group;  // before the channel may go
    channel.is_closed = true;
    for (FluidStream* stream = channel.members; stream; stream = stream->after) cancel(stream->id);
    drop_if_closed(channel);
  }
}

std::optional<Duration> FluidNetwork::round_trip(NodeId from, NodeId to,
                                                 ConnectionGroup group) const {
  const Path* path = find_path(from, to, group);
  return path ? std::optional{path->round_trip()} : std::nullopt;
}

DataRate FluidNetwork::capacity_ahead(NodeId from, NodeId to, ConnectionGroup group,
                                      std::optional<std::int64_t> chunk_index) const {
  const Path* path = find_path(from, to, group);
  return path ? narrowest_rate(*path, capacity_, clock_.now(), chunk_index) : DataRate::zero();
}

LinkUsage FluidNetwork::usage(LinkId link) const {
  const auto index = static_cast<std::size_t>(link.value);
  SLUICE_ASSERT(index < links_.size(), "usage of a link that does not exist");
  return links_[index].usage(clock_.now());
}

}  // namespace sluice
