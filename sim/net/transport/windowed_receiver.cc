// The receiving end: asks for transfers, takes segments, acknowledges, tells the listener. Sending:
// windowed_sender.cc.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "sim/net/transport/windowed_state.h"

namespace sluice {
namespace {

constexpr Duration kPatience =
    std::chrono::seconds{1};  // first wait for an answer (RFC 6298, section 2.1)
constexpr Duration kPatienceMax = std::chrono::seconds{60};

}  // namespace

WindowedNetwork::WindowedNetwork(Clock& clock, TopologySpec topology,
                                 const TransportSpec& transport, std::unique_ptr<Carrier> carrier,
                                 DataSize segment_max)
    : clock_(clock),
      topology_(std::move(topology)),
      transport_(transport),
      segment_max_(segment_max),
      paths_(topology_, transport_),
      carrier_(std::move(carrier)) {
  for (const LinkSpec& link : topology_.links) capacity_.emplace_back(link);
  carrier_->set_receiver(*this);
}

WindowedNetwork::~WindowedNetwork() = default;

TransferId WindowedNetwork::start(const Transfer& transfer, TransferListener& listener) {
  SLUICE_ASSERT(transfer.size >= DataSize::zero() && transfer.connections >= 1,
                "a transfer of nothing known");
  const std::uint64_t id = next_stream_++;
  Stream& stream = *streams_.emplace(id, std::make_unique<Stream>()).first->second;
  stream.id = id;
  stream.transfer = transfer;
  stream.listener = &listener;
  stream.unsent = transfer.size;
  if (const auto why = paths_.refuse(transfer)) {
    clock_.schedule(clock_.now(), [this, id, why] { fail(id, *why); });
    return TransferId{id};
  }
  Channel& channel = channel_for(transfer);
  channel.is_closed = false;
  channel.chunk_index = transfer.chunk_index.value_or(0);
  stream.channel = channel.number;
  ++channel.num_streams;
  channel.waiting.push_back(id);
  if (!transport_.handshake) {
    open_connections(channel, transfer.connections);
    on_opened(channel, transfer.connections, false);
  } else if (transfer.connections > channel.num_asked) {
    channel.num_asked = transfer.connections;
    send_control(channel,
                 {.kind = PacketKind::kOpen, .connection = channel.num_asked, .transfer = id});
  } else {
    on_opened(channel, channel.num_opened, false);
  }
  const Instant now = clock_.now();
  stream.patience =
      clock_.schedule_in(kPatience, [this, id, now] { ask_again(id, now, kPatience); });
  return TransferId{id};
}

void WindowedNetwork::fail(std::uint64_t id, TransferFailure why) {
  Stream* stream = find_stream(id);
  TransferListener* listener = stream->listener;
  forget(id);
  if (listener) listener->on_failure(TransferId{id}, why);
}

// So many connections are open: the transfers that waited for no more are asked for, in order.
void WindowedNetwork::on_opened(Channel& channel, std::int32_t connections, bool by_packet) {
  channel.num_opened = std::max(channel.num_opened, connections);
  while (!channel.waiting.empty()) {
    Stream* stream = find_stream(channel.waiting.front());
    if (stream && stream->transfer.connections > channel.num_opened) return;
    channel.waiting.pop_front();
    if (stream && stream->listener) ask(*stream, by_packet);
  }
}

void WindowedNetwork::ask(Stream& stream, bool answers_opened) {
  stream.is_asked = true;
  send_control(
      *find_channel(stream.channel),
      {.kind = PacketKind::kRequest, .answers_opened = answers_opened, .transfer = stream.id});
}

// Nothing came from the sender since the last asking: the question or its answer may have been
// dropped.
void WindowedNetwork::ask_again(std::uint64_t id, Instant asked_at, Duration patience) {
  Stream* stream = find_stream(id);
  if (!stream || !stream->listener || stream->first_byte_told) return;
  Channel& channel = *find_channel(stream->channel);
  if (channel.heard_at <= asked_at) {
    if (stream->is_asked) {
      ask(*stream, false);
    } else {
      send_control(channel,
                   {.kind = PacketKind::kOpen, .connection = channel.num_asked, .transfer = id});
    }
    patience = std::min(patience * 2, kPatienceMax);
  }
  const Instant now = clock_.now();
  stream->patience =
      clock_.schedule_in(patience, [this, id, now, patience] { ask_again(id, now, patience); });
}

void WindowedNetwork::on_data(Channel& channel, const PacketFields& packet) {
  const Segment segment{packet.transfer, packet.sequence, DataSize::bytes(packet.payload_bytes),
                        packet.is_last};
  Connection& connection = channel.connections[static_cast<std::size_t>(packet.connection)];
  in_order_.clear();
  const bool owed = connection.receiver.owes_acknowledgement();
  if (connection.receiver.take({segment, packet.number}, in_order_)) {
    acknowledge(channel, packet.connection, false);
    // Else the timer is left to find nothing to do, which costs less than stopping it.
    if (packet.is_last && std::exchange(connection.awaits_ack, false))
      clock_.cancel(connection.ack_timer);
  } else if (!owed) {
    await_ack(channel, packet.connection);
  }

  Stream* stream = find_stream(packet.transfer);
  if (stream && !stream->listener &&
      clock_.now() - stream->stop_sent_at > channel.path->round_trip() * 2) {
    stop_sender(*stream);  // it still sends: the word was lost
  }
  if (stream && stream->listener && !stream->first_byte_told && packet.payload_bytes > 0) {
    stream->first_byte_told = true;
    stream->listener->on_first_byte(TransferId{packet.transfer});
  }
  std::vector<Segment> arrived = std::move(in_order_);  // listeners may bring us here again
  for (const Segment& piece : arrived) account(piece.transfer, piece.payload);
  in_order_ = std::move(arrived);
}

void WindowedNetwork::acknowledge(Channel& channel, std::int32_t connection, bool is_late) {
  const Acknowledgement ack =
      channel.connections[static_cast<std::size_t>(connection)].receiver.acknowledge();
  PacketFields packet;
  packet.kind = PacketKind::kAck;
  packet.is_late = is_late;
  packet.connection = connection;
  packet.route = channel.route_back;
  packet.channel = channel.number;
  packet.number = ack.last;
  packet.first_number = ack.first;
  packet.sequence = ack.next_expected;
  packet.chunk_index = channel.chunk_index;
  carrier_->send(packet, channel.path->framing.header);
}

// One timer per connection at most, which looks again when it was set for an earlier packet.
void WindowedNetwork::await_ack(Channel& channel, std::int32_t connection) {
  Connection& of = channel.connections[static_cast<std::size_t>(connection)];
  of.ack_due = clock_.now() + kAckDelayMax;
  if (std::exchange(of.awaits_ack, true)) return;
  of.ack_timer = clock_.schedule(of.ack_due, [this, number = channel.number, connection] {
    on_ack_timer(number, connection);
  });
}

void WindowedNetwork::on_ack_timer(std::uint64_t number, std::int32_t connection) {
  Channel* channel = find_channel(number);
  if (!channel) return;
  Connection& of = channel->connections[static_cast<std::size_t>(connection)];
  of.awaits_ack = false;
  if (!of.receiver.owes_acknowledgement()) return;
  if (of.ack_due <= clock_.now()) return acknowledge(*channel, connection, true);
  of.awaits_ack = true;
  of.ack_timer =
      clock_.schedule(of.ack_due, [this, number, connection] { on_ack_timer(number, connection); });
}

void WindowedNetwork::account(std::uint64_t transfer, DataSize payload) {
  Stream* stream = find_stream(transfer);
  if (!stream) return;
  stream->in_order += payload;
  if (!stream->listener) return;
  TransferListener& listener = *stream->listener;
  const TransferId id{transfer};
  if (stream->in_order == stream->transfer.size) {
    listener.on_complete(id);
    return end(transfer);
  }
  const DataSize step = stream->transfer.progress_every;
  if (step > DataSize::zero() &&
      stream->in_order.bytes() / step.bytes() > stream->told.bytes() / step.bytes()) {
    stream->told = stream->in_order;
    listener.on_progress(id, stream->in_order);
  }
}

DataSize WindowedNetwork::cancel(TransferId id) {
  Stream* stream = find_stream(id.value);
  if (!stream || !stream->listener) return DataSize::zero();
  stream->listener = nullptr;
  const DataSize came = stream->in_order;
  if (stream->is_asked) {
    stop_sender(*stream);
  } else if (stream->channel != 0) {
    end(id.value);
  }
  return came;
}

void WindowedNetwork::stop_sender(Stream& stream) {
  stream.stop_sent_at = clock_.now();
  send_control(*find_channel(stream.channel), {.kind = PacketKind::kStop, .transfer = stream.id});
}

// The transfer is over at both ends.
void WindowedNetwork::end(std::uint64_t id) {
  const Stream* stream = find_stream(id);
  if (!stream) return;
  const std::uint64_t channel = stream->channel;
  clock_.cancel(stream->patience);
  forget(id);
  --find_channel(channel)->num_streams;
  drop_if_closed(channel);
}

void WindowedNetwork::close(ConnectionGroup group) {
  constexpr NodeId kFirst{std::numeric_limits<std::int32_t>::min()};
  std::vector<std::uint64_t> closing;
  for (auto it = channel_numbers_.lower_bound(ChannelKey{group, kFirst, kFirst});
       it != channel_numbers_.end() && std::get<0>(it->first) == group; ++it) {
    closing.push_back(it->second);
  }
  for (const std::uint64_t number : closing) {
    find_channel(number)->is_closed = true;
    std::vector<std::uint64_t> ids;
    for (const auto& [id, stream] : streams_) {
      if (stream->channel == number) ids.push_back(id);
    }
    std::sort(ids.begin(), ids.end());
    for (const std::uint64_t id : ids) cancel(TransferId{id});
    drop_if_closed(number);
  }
}

void WindowedNetwork::drop_if_closed(std::uint64_t number) {
  const auto found = channels_.find(number);
  if (found == channels_.end()) return;
  Channel& channel = *found->second;
  if (!channel.is_closed || channel.num_streams > 0) return;
  for (const Connection& connection : channel.connections) {
    if (!connection.sender.is_idle()) return;  // its last acknowledgements come here again
  }
  channel_numbers_.erase(channel.key);
  last_channel_ = nullptr;
  channels_.erase(found);
}

DataSize WindowedNetwork::delivered(TransferId id) const {
  const Stream* stream = find_stream(id.value);
  return stream && stream->listener ? stream->in_order : DataSize::zero();
}

std::optional<Duration> WindowedNetwork::round_trip(NodeId from, NodeId to,
                                                    ConnectionGroup group) const {
  const Path* path = paths_.find(from, to, group);
  return path ? std::optional{path->round_trip()} : std::nullopt;
}

DataRate WindowedNetwork::capacity_ahead(NodeId from, NodeId to, ConnectionGroup group,
                                         std::optional<std::int64_t> chunk_index) const {
  const Path* path = paths_.find(from, to, group);
  return path ? narrowest_rate(*path, capacity_, clock_.now(), chunk_index) : DataRate::zero();
}

WindowedNetwork::Channel* WindowedNetwork::find_channel(std::uint64_t number) {
  if (last_channel_ && last_channel_->number == number) return last_channel_;
  const auto found = channels_.find(number);
  if (found == channels_.end()) return nullptr;
  return last_channel_ = found->second.get();
}

void WindowedNetwork::forget(std::uint64_t stream) {
  last_stream_ = nullptr;
  streams_.erase(stream);
}

const WindowedNetwork::Stream* WindowedNetwork::find_stream(std::uint64_t id) const {
  if (last_stream_ && last_stream_->id == id) return last_stream_;
  const auto found = streams_.find(id);
  if (found == streams_.end()) return nullptr;
  return last_stream_ = found->second.get();
}

WindowedNetwork::Stream* WindowedNetwork::find_stream(std::uint64_t id) {
  return const_cast<Stream*>(static_cast<const WindowedNetwork*>(this)->find_stream(id));
}

}  // namespace sluice
