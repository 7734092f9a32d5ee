// The tier `tcp`: ns-3's own TCP, behind the network contract.
// Where in the flow: step 2. Slow, and not ours: what our transport is checked against.
// Surprise: it can do only what a real TCP does, so a TransportSpec without handshake, slow start
// or headers is refused before it comes here (sim/net/validity.h).
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "base/clock.h"
#include "sim/ns3/tcp_channel.h"

namespace sluice {

class TcpNetwork final : public Network, private TcpChannel::Owner {
 public:
  // `clock` must be an Ns3Clock, outlive the network and not run after it.
  TcpNetwork(Clock& clock, TopologySpec topology, const TransportSpec& transport);
  ~TcpNetwork() override;
  TcpNetwork(const TcpNetwork&) = delete;
  TcpNetwork& operator=(const TcpNetwork&) = delete;

  TransferId start(const Transfer& transfer, TransferListener& listener) override;
  DataSize cancel(TransferId id) override;
  [[nodiscard]] DataSize delivered(TransferId id) const override;
  void close(ConnectionGroup group) override;
  [[nodiscard]] std::optional<Duration> round_trip(NodeId from, NodeId to,
                                                   ConnectionGroup group) const override;
  [[nodiscard]] DataRate capacity_ahead(NodeId from, NodeId to, ConnectionGroup group,
                                        std::optional<std::int64_t> chunk_index) const override;
  [[nodiscard]] LinkUsage usage(LinkId link) const override { return fabric_.usage(link); }

 private:
  struct Stream {
    Transfer transfer;
    std::uint64_t channel = 0;  // none: it fails
    TransferListener* listener = nullptr;
    DataSize in_order, told;  // arrived; and of it, told by on_progress
  };
  using ChannelKey = std::tuple<ConnectionGroup, NodeId, NodeId>;

  void on_arrived(std::uint64_t transfer, DataSize payload) override;
  void on_broken(std::uint64_t channel) override;
  void on_finished(std::uint64_t channel) override;

  std::uint64_t channel_for(const Transfer& transfer);
  void fail(std::uint64_t id, TransferFailure why);
  void complete(std::uint64_t id);
  void leave(std::uint64_t channel);
  void break_off(std::uint64_t channel);
  [[nodiscard]] std::vector<std::uint64_t> streams_of(std::uint64_t channel) const;

  Clock& clock_;
  const TopologySpec topology_;
  const TransportSpec transport_;
  PathTable paths_;
  std::vector<LinkCapacity> capacity_;  // [link]
  IpFabric fabric_;
  std::map<std::uint64_t, Stream> streams_;                        // by transfer
  std::map<std::uint64_t, std::unique_ptr<TcpChannel>> channels_;  // by number
  std::map<ChannelKey, std::uint64_t> channel_numbers_;            // those not closed
  std::uint64_t next_stream_ = 1, next_channel_ = 1;
};

}  // namespace sluice
