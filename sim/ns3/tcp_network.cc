#include "sim/ns3/tcp_network.h"

#include <limits>

#include "base/assert.h"

namespace sluice {

TcpNetwork::TcpNetwork(Clock& clock, TopologySpec topology, const TransportSpec& transport)
    : clock_(clock),
      topology_(std::move(topology)),
      transport_(transport),
      paths_(topology_, transport_),
      fabric_(topology_) {
  SLUICE_ASSERT(transport.handshake && transport.slow_start && transport.count_headers &&
                    transport.header == kTcpHeader,
                "a transport that is not TCP");
  for (const LinkSpec& link : topology_.links) {
    SLUICE_ASSERT(link.capacity.clock == TraceClock::kTime, "TCP knows no chunks");
    capacity_.emplace_back(link);
  }
}

TcpNetwork::~TcpNetwork() = default;

TransferId TcpNetwork::start(const Transfer& transfer, TransferListener& listener) {
  SLUICE_ASSERT(transfer.size >= DataSize::zero() && transfer.connections >= 1,
                "a transfer of nothing known");
  const std::uint64_t id = next_stream_++;
  Stream& stream = streams_[id];
  stream.transfer = transfer;
  stream.listener = &listener;
  if (const auto why = paths_.refuse(transfer)) {
    clock_.schedule(clock_.now(), [this, id, why] { fail(id, *why); });
    return TransferId{id};
  }
  stream.channel = channel_for(transfer);
  channels_.at(stream.channel)
      ->ask({.transfer = id, .size = transfer.size, .connections = transfer.connections});
  return TransferId{id};
}

std::uint64_t TcpNetwork::channel_for(const Transfer& transfer) {
  const auto [found, is_new] = channel_numbers_.try_emplace(
      ChannelKey{transfer.group, transfer.from, transfer.to}, next_channel_);
  if (is_new) {
    const TcpChannel::Ends ends{next_channel_, transfer.from, transfer.to,
                                paths_.find(transfer.from, transfer.to, transfer.group)};
    TcpChannel::Owner& owner = *this;  // a private base, which make_unique does not see
    channels_[next_channel_++] =
        std::make_unique<TcpChannel>(clock_, fabric_, transport_, ends, owner);
  }
  return found->second;
}

void TcpNetwork::fail(std::uint64_t id, TransferFailure why) {
  const auto stream = streams_.extract(id);
  if (stream) stream.mapped().listener->on_failure(TransferId{id}, why);
}

void TcpNetwork::on_arrived(std::uint64_t id, DataSize payload) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;  // cancelled
  Stream& stream = found->second;
  TransferListener& listener = *stream.listener;
  const bool is_first = stream.in_order == DataSize::zero() && payload > DataSize::zero();
  stream.in_order += payload;
  if (is_first) listener.on_first_byte(TransferId{id});
  const auto still = streams_.find(id);  // the listener may have cancelled it
  if (still == streams_.end()) return;
  if (stream.in_order == stream.transfer.size) return complete(id);
  const DataSize step = stream.transfer.progress_every;
  if (step > DataSize::zero() &&
      stream.in_order.bytes() / step.bytes() > stream.told.bytes() / step.bytes()) {
    stream.told = stream.in_order;
    listener.on_progress(TransferId{id}, stream.in_order);
  }
}

void TcpNetwork::complete(std::uint64_t id) {
  Stream& stream = streams_.at(id);
  stream.channel = 0;  // nothing to stop there any more
  stream.listener->on_complete(TransferId{id});
  streams_.erase(id);
}

DataSize TcpNetwork::cancel(TransferId id) {
  const auto stream = streams_.extract(id.value);
  if (!stream) return DataSize::zero();
  const std::uint64_t channel = stream.mapped().channel;
  if (channel != 0) channels_.at(channel)->stop(id.value);
  return stream.mapped().in_order;
}

DataSize TcpNetwork::delivered(TransferId id) const {
  const auto found = streams_.find(id.value);
  return found == streams_.end() ? DataSize::zero() : found->second.in_order;
}

std::vector<std::uint64_t> TcpNetwork::streams_of(std::uint64_t channel) const {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, stream] : streams_) {
    if (stream.channel == channel) ids.push_back(id);
  }
  return ids;
}

void TcpNetwork::close(ConnectionGroup group) {
  constexpr NodeId kFirst{std::numeric_limits<std::int32_t>::min()};
  std::vector<std::uint64_t> closing;
  for (auto it = channel_numbers_.lower_bound(ChannelKey{group, kFirst, kFirst});
       it != channel_numbers_.end() && std::get<0>(it->first) == group; ++it) {
    closing.push_back(it->second);
  }
  for (const std::uint64_t channel : closing) {
    for (const std::uint64_t id : streams_of(channel)) cancel(TransferId{id});
    leave(channel);
    // Not from inside ns-3's socket, which may be what called the listener.
    clock_.schedule(clock_.now(), [this, channel] {
      const auto found = channels_.find(channel);
      if (found != channels_.end()) found->second->close();
    });
  }
}

// Nothing new comes to the channel.
void TcpNetwork::leave(std::uint64_t channel) {
  std::erase_if(channel_numbers_, [channel](const auto& entry) { return entry.second == channel; });
}

void TcpNetwork::on_broken(std::uint64_t channel) {
  clock_.schedule(clock_.now(), [this, channel] { break_off(channel); });
}

void TcpNetwork::break_off(std::uint64_t channel) {
  if (!channels_.contains(channel)) return;
  leave(channel);  // and not closed: ns-3 would repeat its FIN for ever
  for (const std::uint64_t id : streams_of(channel)) fail(id, TransferFailure::kLinkDown);
}

void TcpNetwork::on_finished(std::uint64_t channel) {
  clock_.schedule(clock_.now(), [this, channel] { channels_.erase(channel); });
}

std::optional<Duration> TcpNetwork::round_trip(NodeId from, NodeId to,
                                               ConnectionGroup group) const {
  const Path* path = paths_.find(from, to, group);
  return path ? std::optional{path->round_trip()} : std::nullopt;
}

DataRate TcpNetwork::capacity_ahead(NodeId from, NodeId to, ConnectionGroup group,
                                    std::optional<std::int64_t> chunk_index) const {
  const Path* path = paths_.find(from, to, group);
  return path ? narrowest_rate(*path, capacity_, clock_.now(), chunk_index) : DataRate::zero();
}

}  // namespace sluice
