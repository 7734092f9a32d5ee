// The sending end: answers requests in order, keeps the windows full, sends again what was lost.
#include <algorithm>

#include "sim/net/transport/windowed_state.h"

namespace sluice {
namespace {

constexpr std::int64_t kSegmentsPerQueue = 8;  // so that a queue means something to a burst

}  // namespace

void WindowedNetwork::on_packet(const PacketFields& packet) {
  Channel* channel = find_channel(packet.channel);
  if (!channel) return;  // closed meanwhile
  switch (packet.kind) {
    case PacketKind::kOpen:
      open_connections(*channel, packet.connection);
      send_control(*channel, PacketKind::kOpened, packet.transfer, packet.connection);
      break;
    case PacketKind::kOpened:
      channel->heard_at = clock_.now();
      on_opened(*channel, packet.connection);
      break;
    case PacketKind::kRequest:
      on_request(*channel, packet.transfer);
      break;
    case PacketKind::kStop:
      on_stop(*channel, packet.transfer);
      break;
    case PacketKind::kData:
      channel->heard_at = clock_.now();
      on_data(*channel, packet);
      break;
    case PacketKind::kAck:
      on_ack(*channel, packet);
      break;
  }
}

std::int32_t WindowedNetwork::route_of(const std::vector<LinkId>& links) {
  const auto [found, is_new] = routes_.try_emplace(links, 0);
  if (is_new) found->second = carrier_->add_route(links);
  return found->second;
}

DataSize WindowedNetwork::smallest_queue(const Path& path) const {
  DataSize smallest = DataSize::max();
  for (const LinkId id : path.links) {
    smallest = std::min(smallest, topology_.links[static_cast<std::size_t>(id.value)].queue.limit);
  }
  return smallest;
}

WindowedNetwork::Channel& WindowedNetwork::channel_for(const Transfer& transfer) {
  const ChannelKey key{transfer.group, transfer.from, transfer.to};
  const auto [found, is_new] = channel_numbers_.try_emplace(key, next_channel_);
  if (!is_new) return *channels_.at(found->second);
  auto channel = std::make_unique<Channel>();
  channel->number = next_channel_++;
  channel->key = key;
  channel->path = paths_.find(transfer.from, transfer.to, transfer.group);
  channel->route = route_of(channel->path->links);
  channel->route_back = route_of(channel->path->back);
  const DataSize packet = channel->path->framing.payload;
  const DataSize by_queue =
      DataSize::bytes(smallest_queue(*channel->path).bytes() / kSegmentsPerQueue);
  const std::int64_t packets = std::min(segment_max_, by_queue).bytes() / packet.bytes();
  channel->segment_max = packet * std::max<std::int64_t>(1, packets);
  return *channels_.emplace(channel->number, std::move(channel)).first->second;
}

// Without slow start the first window fills the path and half of its smallest queue.
CongestionLimits WindowedNetwork::limits_for(const Channel& channel) const {
  CongestionLimits limits;
  limits.packet = channel.path->framing.payload;
  limits.initial = limits.packet * transport_.initial_window_segments;
  limits.max = transport_.max_window;
  limits.slow_start = transport_.slow_start;
  if (limits.slow_start) return limits;
  const DataRate rate = narrowest_rate(*channel.path, capacity_, clock_.now(), channel.chunk_index);
  const DataSize in_flight = rate * channel.path->round_trip();
  const DataSize queued = DataSize::bytes(smallest_queue(*channel.path).bytes() / 2);
  limits.initial = std::clamp(in_flight + queued, limits.initial, limits.max);
  return limits;
}

void WindowedNetwork::open_connections(Channel& channel, std::int32_t connections) {
  const CongestionLimits limits = limits_for(channel);
  while (channel.connections.size() < static_cast<std::size_t>(connections)) {
    channel.connections.emplace_back(limits, channel.segment_max);
  }
}

void WindowedNetwork::send_control(const Channel& channel, PacketKind kind, std::uint64_t transfer,
                                   std::int32_t connections) {
  PacketFields packet;
  packet.kind = kind;
  packet.channel = channel.number;
  packet.transfer = transfer;
  packet.connection = connections;
  packet.chunk_index = channel.chunk_index;
  packet.route = kind == PacketKind::kOpened ? channel.route : channel.route_back;
  carrier_->send(packet, channel.path->framing.header);
}

void WindowedNetwork::on_request(Channel& channel, std::uint64_t transfer) {
  Stream* stream = find_stream(transfer);
  if (!stream || stream->is_requested) return;  // over, or asked twice
  stream->is_requested = true;
  if (channel.queue.empty() && transport_.idle_reset) {
    const Duration silence_max = channel.path->round_trip() + transport_.idle_timeout;
    for (Connection& connection : channel.connections)
      connection.sender.restart_after(silence_max, clock_.now());
  }
  channel.queue.push_back(transfer);
  pump(channel);
}

void WindowedNetwork::on_stop(Channel& channel, std::uint64_t transfer) {
  const std::uint64_t number = channel.number;
  std::erase(channel.queue, transfer);
  end(transfer);  // the channel may go with it
  if (Channel* still = find_channel(number)) pump(*still);
}

void WindowedNetwork::on_ack(Channel& channel, const PacketFields& packet) {
  const auto index = static_cast<std::size_t>(packet.connection);
  channel.connections[index].sender.on_ack(clock_.now(), packet.number, packet.sequence);
  pump(channel);
  watch(channel, packet.connection);
  drop_if_closed(channel.number);
}

// Sends all that the windows have room for: lost segments first, then new ones, the connections in
// turn.
void WindowedNetwork::pump(Channel& channel) {
  for (std::size_t i = 0; i < channel.connections.size(); ++i) {
    while (const auto copy = channel.connections[i].sender.send_lost(clock_.now())) {
      send_segment(channel, static_cast<std::int32_t>(i), *copy);
    }
  }
  while (pump_new(channel)) {
  }
}

bool WindowedNetwork::pump_new(Channel& channel) {
  bool sent_any = false;
  for (std::size_t i = 0; i < channel.connections.size() && !channel.queue.empty(); ++i) {
    Stream& stream = *find_stream(channel.queue.front());
    if (i >= static_cast<std::size_t>(stream.transfer.connections)) break;
    const auto payload = channel.connections[i].sender.room(stream.unsent);
    if (!payload) continue;
    stream.unsent -= *payload;
    send_segment(channel, static_cast<std::int32_t>(i),
                 channel.connections[i].sender.send(clock_.now(), stream.id, *payload));
    sent_any = true;
    if (stream.unsent == DataSize::zero()) channel.queue.pop_front();
  }
  return sent_any;
}

void WindowedNetwork::send_segment(Channel& channel, std::int32_t connection,
                                   const NumberedSegment& copy) {
  PacketFields packet;
  packet.kind = PacketKind::kData;
  packet.connection = connection;
  packet.channel = channel.number;
  packet.transfer = copy.segment.transfer;
  packet.number = copy.number;
  packet.sequence = copy.segment.sequence;
  packet.payload_bytes = copy.segment.payload.bytes();
  const Stream* stream = find_stream(packet.transfer);
  packet.chunk_index = stream ? stream->transfer.chunk_index.value_or(0) : channel.chunk_index;
  packet.route = channel.route;
  const Framing& framing = channel.path->framing;
  // An empty answer is a packet of its header.
  const DataSize wire =
      packet.payload_bytes > 0 ? framing.wire_size(copy.segment.payload) : framing.header;
  carrier_->send(packet, wire);
  watch(channel, connection);
}

// Keeps one timer per connection, no later than the time to probe; it looks again when it fires
// early.
void WindowedNetwork::watch(Channel& channel, std::int32_t connection) {
  Connection& of = channel.connections[static_cast<std::size_t>(connection)];
  const std::optional<Instant> at = of.sender.probe_at();
  if (at && of.watched_until && *of.watched_until <= *at) return;
  if (of.watched_until) clock_.cancel(of.watch);
  of.watched_until = at;
  if (!at) return;
  of.watch = clock_.schedule(
      *at, [this, number = channel.number, connection] { on_watch(number, connection); });
}

void WindowedNetwork::on_watch(std::uint64_t number, std::int32_t connection) {
  Channel* channel = find_channel(number);
  if (!channel) return;
  Connection& of = channel->connections[static_cast<std::size_t>(connection)];
  of.watched_until.reset();
  const std::optional<Instant> at = of.sender.probe_at();
  if (at && *at <= clock_.now()) send_segment(*channel, connection, of.sender.probe(clock_.now()));
  watch(*channel, connection);
}

}  // namespace sluice
