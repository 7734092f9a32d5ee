// Our windowed transport: requests one way, segments the other, acknowledgements back; over any
// Carrier.
// Where in the flow: step 2, the tiers `packet` and `burst` on the ns-3 devices of sim/ns3.
// Surprises: both ends live here, but only what a packet carries passes between them; in the burst
// tier a segment stands for many packets of the link, and its wire bytes count a header for each of
// them; data arrive per connection in order.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "base/clock.h"
#include "sim/net/path.h"
#include "sim/net/transport/carrier.h"
#include "sim/net/transport/connection_receiver.h"
#include "sim/net/transport/connection_sender.h"

namespace sluice {

class WindowedNetwork final : public Network, private PacketReceiver {
 public:
  // The topology must have passed check_topology. `clock` must outlive the network and not run
  // after it. `segment_max` is the payload of one segment, at least a packet; paths with small
  // queues use less, and those on which packets have fates of their own use single packets.
  WindowedNetwork(Clock& clock, TopologySpec topology, const TransportSpec& transport,
                  std::unique_ptr<Carrier> carrier, DataSize segment_max);
  ~WindowedNetwork() override;
  WindowedNetwork(const WindowedNetwork&) = delete;
  WindowedNetwork& operator=(const WindowedNetwork&) = delete;

  TransferId start(const Transfer& transfer, TransferListener& listener) override;
  DataSize cancel(TransferId id) override;
  [[nodiscard]] DataSize delivered(TransferId id) const override;
  void close(ConnectionGroup group) override;
  [[nodiscard]] std::optional<Duration> round_trip(NodeId from, NodeId to,
                                                   ConnectionGroup group) const override;
  [[nodiscard]] DataRate capacity_ahead(NodeId from, NodeId to, ConnectionGroup group,
                                        std::optional<std::int64_t> chunk_index) const override;
  [[nodiscard]] LinkUsage usage(LinkId link) const override { return carrier_->usage(link); }

 private:
  struct Channel;
  struct Connection;
  struct Stream;
  using ChannelKey = std::tuple<ConnectionGroup, NodeId, NodeId>;

  // The receiver of the data, who asks for them (windowed_receiver.cc).
  void fail(std::uint64_t id, TransferFailure why);
  void ask(Stream& stream, bool answers_opened);
  void on_opened(Channel& channel, std::int32_t connections, bool by_packet);
  void on_data(Channel& channel, const PacketFields& packet);
  void acknowledge(Channel& channel, std::int32_t connection, bool is_late);
  void await_ack(Channel& channel, std::int32_t connection);
  void on_ack_timer(std::uint64_t channel, std::int32_t connection);
  void account(std::uint64_t transfer, DataSize payload);
  void ask_again(std::uint64_t id, Instant asked_at, Duration patience);
  void stop_sender(Stream& stream);
  void end(std::uint64_t id);
  void drop_if_closed(std::uint64_t channel);

  // The sender of the data, who answers (windowed_sender.cc).
  void on_packet(const PacketFields& packet) override;
  void on_open(Channel& channel, const PacketFields& packet);
  void on_request(Channel& channel, const PacketFields& packet);
  void on_stop(Channel& channel, std::uint64_t transfer);
  void on_ack(Channel& channel, const PacketFields& packet);
  void open_connections(Channel& channel, std::int32_t connections);
  [[nodiscard]] CongestionLimits limits_for(const Channel& channel) const;
  void pump(Channel& channel);
  void pump_connection(Channel& channel, std::int32_t connection);
  void send_lost(Channel& channel, std::int32_t connection);
  [[nodiscard]] bool send_new(Channel& channel, std::int32_t connection);
  void send_segment(Channel& channel, std::int32_t connection, const NumberedSegment& copy);
  void send_control(const Channel& channel, PacketFields packet);
  void await_pace(Channel& channel, std::int32_t connection);
  void watch(Channel& channel, std::int32_t connection);
  void on_watch(std::uint64_t channel, std::int32_t connection);

  Channel& channel_for(const Transfer& transfer);
  [[nodiscard]] Channel* find_channel(std::uint64_t number);
  [[nodiscard]] Stream* find_stream(std::uint64_t id);
  [[nodiscard]] const Stream* find_stream(std::uint64_t id) const;
  [[nodiscard]] std::int32_t route_of(const std::vector<LinkId>& links);
  [[nodiscard]] DataSize smallest_queue(const Path& path) const;
  [[nodiscard]] DataSize segment_max_on(const Path& path) const;
  void forget(std::uint64_t stream);

  Clock& clock_;
  const TopologySpec topology_;
  const TransportSpec transport_;
  const DataSize segment_max_;
  PathTable paths_;
  std::vector<LinkCapacity> capacity_;  // [link]
  std::unique_ptr<Carrier> carrier_;

  // Looked up by number only, so that no result depends on the order of a hash table.
  std::unordered_map<std::uint64_t, std::unique_ptr<Stream>> streams_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Channel>> channels_;
  std::map<ChannelKey, std::uint64_t> channel_numbers_;
  std::map<std::vector<LinkId>, std::int32_t> routes_;
  std::uint64_t next_stream_ = 1, next_channel_ = 1;
  std::vector<Segment> in_order_;  // reused by on_data()
  // Found last: packets come in rows of the same.
  mutable Stream* last_stream_ = nullptr;
  Channel* last_channel_ = nullptr;
};

}  // namespace sluice
