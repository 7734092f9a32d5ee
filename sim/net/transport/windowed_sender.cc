// The sending end: answers requests in order, keeps the windows full, sends again what was lost.
#include <algorithm>
#include <utility>

#include "sim/net/transport/segment.h"
#include "sim/net/transport/windowed_state.h"

namespace sluice {

void WindowedNetwork::on_packet(const PacketFields& packet) {
  Channel* channel = find_channel(packet.channel);
  if (!channel) return;  // closed meanwhile
  switch (packet.kind) {
    case PacketKind::kOpen:
      on_open(*channel, packet);
      break;
    case PacketKind::kOpened:
      channel->heard_at = clock_.now();
      on_opened(*channel, packet.connection, true);
      break;
    case PacketKind::kRequest:
      on_request(*channel, packet);
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

// A burst may stand for its packets where they share one fate: a full queue. Where packets are lost
// or dropped one by one, they travel one by one, and the burst tier is the packet tier.
DataSize WindowedNetwork::segment_max_on(const Path& path) const {
  const DataSize packet = path.framing.payload;
  for (const LinkId id : path.links) {
    const LinkSpec& link = topology_.links[static_cast<std::size_t>(id.value)];
    if (!std::holds_alternative<NoLoss>(link.loss) ||
        !std::holds_alternative<DropTail>(link.queue.discipline))
      return packet;
  }
  const DataSize by_queue = DataSize::bytes(smallest_queue(path).bytes() / kSegmentsPerQueue);
  const std::int64_t packets = std::min(segment_max_, by_queue).bytes() / packet.bytes();
  return packet * std::max<std::int64_t>(1, packets);
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
  channel->segment_max = segment_max_on(*channel->path);
  return *channels_.emplace(channel->number, std::move(channel)).first->second;
}

// Without slow start the first window fills the path and half of its smallest queue.
CongestionLimits WindowedNetwork::limits_for(const Channel& channel) const {
  CongestionLimits limits;
  limits.packet = channel.path->framing.payload;
  limits.initial = limits.packet * transport_.initial_window_segments;
  limits.max = transport_.max_window;
  limits.slow_start = transport_.slow_start;
  limits.hystart = transport_.hystart;
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
    channel.connections.emplace_back(limits, channel.segment_max, transport_.pacing);
  }
}

void WindowedNetwork::send_control(const Channel& channel, PacketFields packet) {
  packet.channel = channel.number;
  packet.chunk_index = channel.chunk_index;
  packet.route = packet.kind == PacketKind::kOpened ? channel.route : channel.route_back;
  carrier_->send(packet, channel.path->framing.header);
}

void WindowedNetwork::on_open(Channel& channel, const PacketFields& packet) {
  open_connections(channel, packet.connection);
  channel.opened_at = clock_.now();
  send_control(
      channel,
      {.kind = PacketKind::kOpened, .connection = packet.connection, .transfer = packet.transfer});
}

void WindowedNetwork::on_request(Channel& channel, const PacketFields& packet) {
  if (packet.answers_opened) {
    for (; channel.num_measured < channel.connections.size(); ++channel.num_measured) {
      channel.connections[channel.num_measured].sender.on_handshake(clock_.now() -
                                                                    channel.opened_at);
    }
  }
  Stream* stream = find_stream(packet.transfer);
  if (!stream || stream->is_requested) return;  // over, or asked twice
  stream->is_requested = true;
  if (channel.queue.empty() && transport_.idle_reset) {
    for (Connection& connection : channel.connections) {
      connection.sender.restart_after(channel.path->round_trip(), transport_.idle_timeout,
                                      clock_.now());
    }
  }
  channel.queue.push_back(packet.transfer);
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
  channel.connections[index].sender.on_ack(
      clock_.now(), {packet.first_number, packet.number, packet.sequence, packet.is_late});
  pump_connection(channel, packet.connection);
  watch(channel, packet.connection);
  drop_if_closed(channel.number);
}

// Sends all that the windows have room for: lost segments first, then new ones, the connections in
// turn.
void WindowedNetwork::pump(Channel& channel) {
  const auto num_connections = static_cast<std::int32_t>(channel.connections.size());
  for (std::int32_t i = 0; i < num_connections; ++i) send_lost(channel, i);
  for (bool sent_any = true; sent_any;) {
    sent_any = false;
    for (std::int32_t i = 0; i < num_connections; ++i) sent_any = send_new(channel, i) || sent_any;
  }
  for (std::int32_t i = 0; i < num_connections; ++i) await_pace(channel, i);
}

// The same for one connection, whose window alone has changed.
void WindowedNetwork::pump_connection(Channel& channel, std::int32_t connection) {
  const std::size_t num_waiting = channel.queue.size();
  send_lost(channel, connection);
  while (send_new(channel, connection)) {
  }
  // The next transfer may use connections that this one did not.
  if (!channel.queue.empty() && channel.queue.size() < num_waiting) return pump(channel);
  await_pace(channel, connection);
}

void WindowedNetwork::send_lost(Channel& channel, std::int32_t connection) {
  ConnectionSender& sender = channel.connections[static_cast<std::size_t>(connection)].sender;
  while (const auto copy = sender.send_lost(clock_.now())) send_segment(channel, connection, *copy);
}

// The next segment of the transfer in turn, if this connection may take it.
bool WindowedNetwork::send_new(Channel& channel, std::int32_t connection) {
  if (channel.queue.empty()) return false;
  Stream& stream = *find_stream(channel.queue.front());
  if (connection >= stream.transfer.connections) return false;
  const Instant now = clock_.now();
  ConnectionSender& sender = channel.connections[static_cast<std::size_t>(connection)].sender;
  const std::optional<DataSize> payload = sender.room(now, stream.unsent);
  if (!payload) return false;
  stream.unsent -= *payload;
  const bool is_last = stream.unsent == DataSize::zero();
  send_segment(channel, connection, sender.send(now, stream.id, *payload, is_last));
  if (is_last) channel.queue.pop_front();
  return true;
}

void WindowedNetwork::await_pace(Channel& channel, std::int32_t connection) {
  Connection& of = channel.connections[static_cast<std::size_t>(connection)];
  const std::optional<Instant> at = of.sender.resumes_at(clock_.now());
  if (!at || std::exchange(of.awaits_pace, true)) return;
  clock_.schedule(*at, [this, number = channel.number, connection] {
    Channel* still = find_channel(number);
    if (!still) return;
    still->connections[static_cast<std::size_t>(connection)].awaits_pace = false;
    pump_connection(*still, connection);
  });
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
  packet.is_last = copy.segment.is_last;
  packet.chunk_index = channel.chunk_index;
  if (channel.path->by_chunk) {
    const Stream* stream = find_stream(packet.transfer);
    if (stream) packet.chunk_index = stream->transfer.chunk_index.value_or(0);
  }
  packet.route = channel.route;
  const Framing& framing = channel.path->framing;
  // An empty answer is a packet of its header.
  const DataSize wire =
      packet.payload_bytes > 0 ? framing.wire_size(copy.segment.payload) : framing.header;
  carrier_->send(packet, wire);
  watch(channel, connection);
}

// Keeps one timer per connection, no later than when the sender gives up; it looks again when it
// fires early.
void WindowedNetwork::watch(Channel& channel, std::int32_t connection) {
  Connection& of = channel.connections[static_cast<std::size_t>(connection)];
  const std::optional<Instant> at = of.sender.gives_up_at();
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
  const std::optional<Instant> at = of.sender.gives_up_at();
  if (at && *at <= clock_.now()) {
    if (const auto probe = of.sender.give_up(clock_.now()))
      send_segment(*channel, connection, *probe);
    pump_connection(*channel, connection);
  }
  watch(*channel, connection);
}

}  // namespace sluice
