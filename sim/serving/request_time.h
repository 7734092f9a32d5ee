// What store and client take for a request beside the network: reading it, finding the chunk,
// waking up. Where in the flow: around the network of any simulated tier, when a scenario says
// `store.request_time`; emulation has the real one. Surprise: each request leaves that much later,
// which nobody waits for while an earlier one is being answered, as on a real store.
#pragma once

#include <map>
#include <memory>

#include "base/clock.h"
#include "sim/net/network.h"

namespace sluice {

class RequestTimeNetwork final : public Network, private TransferListener {
 public:
  // `clock` outlives it; `request_time` >= 0.
  RequestTimeNetwork(Clock& clock, std::unique_ptr<Network> network, Duration request_time)
      : clock_(clock), network_(std::move(network)), request_time_(request_time) {}
  ~RequestTimeNetwork() override;
  RequestTimeNetwork(const RequestTimeNetwork&) = delete;
  RequestTimeNetwork& operator=(const RequestTimeNetwork&) = delete;

  TransferId start(const Transfer& transfer, TransferListener& listener) override;
  DataSize cancel(TransferId id) override;
  [[nodiscard]] DataSize delivered(TransferId id) const override;
  void close(ConnectionGroup group) override;
  [[nodiscard]] std::optional<Duration> round_trip(NodeId from, NodeId to,
                                                   ConnectionGroup group) const override {
    return network_->round_trip(from, to, group);
  }
  [[nodiscard]] DataRate capacity_ahead(NodeId from, NodeId to, ConnectionGroup group,
                                        std::optional<std::int64_t> chunk_index) const override {
    return network_->capacity_ahead(from, to, group, chunk_index);
  }
  [[nodiscard]] LinkUsage usage(LinkId link) const override { return network_->usage(link); }

 private:
  struct Flight {
    TransferListener* listener = nullptr;
    ConnectionGroup group;
    std::optional<TimerId> departure;  // until the request leaves; then
    std::optional<TransferId> inner;   // what the network calls it
  };
  void on_first_byte(TransferId inner) override;
  void on_progress(TransferId inner, DataSize delivered) override;
  void on_complete(TransferId inner) override;
  void on_failure(TransferId inner, TransferFailure why) override;
  void forget(TransferId id);

  Clock& clock_;
  std::unique_ptr<Network> network_;
  Duration request_time_;
  std::uint64_t next_id_ = 1;
  std::map<TransferId, Flight> flights_;
  std::map<TransferId, TransferId> ids_;  // ours, by the network's
};

}  // namespace sluice
