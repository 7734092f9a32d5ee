// The fluid tier: data as a fluid whose rate is piecewise constant, integrated exactly in integers.
// Where in the flow: step 2, the default of sweeps and planning; its timing model is in this
// folder's README.
// Surprises: no queue and no loss; all links of a path see the data at the same time, and the
// path's whole delay follows; only instants at which some rate or some answer changes cost
// anything.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "base/clock.h"
#include "sim/net/capacity.h"
#include "sim/net/fluid/max_min.h"
#include "sim/net/fluid/sent_curve.h"
#include "sim/net/fluid/window_rounds.h"
#include "sim/net/path.h"

namespace sluice {

class FluidNetwork final : public Network {
 public:
  // The topology must have passed check_topology. `clock` must outlive the network.
  FluidNetwork(Clock& clock, TopologySpec topology, const TransportSpec& transport);
  ~FluidNetwork() override;
  FluidNetwork(const FluidNetwork&) = delete;
  FluidNetwork& operator=(const FluidNetwork&) = delete;

  TransferId start(const Transfer& transfer, TransferListener& listener) override;
  DataSize cancel(TransferId id) override;
  [[nodiscard]] DataSize delivered(TransferId id) const override;
  void close(ConnectionGroup group) override;
  [[nodiscard]] std::optional<Duration> round_trip(NodeId from, NodeId to,
                                                   ConnectionGroup group) const override;
  [[nodiscard]] DataRate capacity_ahead(NodeId from, NodeId to, ConnectionGroup group,
                                        std::optional<std::int64_t> chunk_index) const override;
  [[nodiscard]] LinkUsage usage(LinkId link) const override;

 private:
  struct Channel;
  struct Stream;
  using ChannelKey = std::tuple<ConnectionGroup, NodeId, NodeId>;

  // The life of a transfer (fluid_network.cc).
  Stream& take_slot(const Transfer& transfer, TransferListener& listener);
  void release(Stream& stream);
  [[nodiscard]] Stream* find(TransferId id);
  [[nodiscard]] const Stream* find(TransferId id) const;
  Channel& channel_for(const Transfer& transfer, const Path& path);
  [[nodiscard]] Instant request_arrives(Channel& channel, const Transfer& transfer);
  void fail(TransferId id, TransferFailure why);
  void on_request(TransferId id);
  void on_stop(TransferId id);
  void on_mark_arrived(TransferId id);
  void on_last_byte_arrived(TransferId id);
  void drop_if_closed(Channel& channel);

  // The flow of the data (fluid_flow.cc).
  void on_timer();
  void settle();
  void integrate(Channel& channel, Instant now);
  void pass_marks(Stream& stream, Instant now);
  void serve_next(Channel& channel, Instant now);
  void reshare_and_arm();
  void collect_flows(Instant now);
  [[nodiscard]] std::optional<DataRate> chunk_limit(const Stream& stream) const;
  void apply_rates(Instant now);
  void update_links(Instant now);
  [[nodiscard]] std::optional<Instant> next_event(Instant now) const;
  void arm(std::optional<Instant> at);

  Clock& clock_;
  const TopologySpec topology_;
  const TransportSpec transport_;
  PathTable paths_;
  std::vector<LinkCapacity> capacity_;  // [link]

  std::vector<std::unique_ptr<Stream>> streams_;  // by slot; freed slots are used again
  std::vector<std::uint32_t> free_slots_;
  std::map<ChannelKey, Channel> channels_;
  std::vector<Channel*> busy_;  // that have a transfer to send, in the order in which they began

  struct LinkFlow {
    Nanobits sent;   // until the last event
    Nanobits limit;  // that the transfers on it could reach before the next event
    DataRate rate;   // of all transfers on it together
    std::int32_t num_flows = 0;
    bool is_listed = false;
    SentCurve curve;
  };
  std::vector<LinkFlow> links_;         // [link]
  std::vector<LinkId> links_in_use_;    // that carried data since the last sharing
  std::optional<Instant> next_change_;  // of the capacity of a link in use
  bool needs_sharing_ = false;

  MaxMinSolver solver_;
  std::vector<DataRate> capacity_now_;  // [link], of links in use
  std::vector<MaxMinFlow> flows_;
  std::vector<Channel*> flowing_;  // channel of each of flows_

  TimerId timer_;
  std::optional<Instant> armed_;
};

}  // namespace sluice
