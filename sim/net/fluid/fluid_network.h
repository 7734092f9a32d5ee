// The fluid tier: data as a fluid whose rate is piecewise constant, integrated exactly in integers.
// Where in the flow: step 2, the default of sweeps and planning; its timing model is in this
// folder's README.
// Surprises: no queue; all links of a path see the data at the same time, and the path's whole
// delay follows; a transfer alone on its links is drawn to its end in one go, and only if somebody
// joins it is the rest drawn anew.
#pragma once

#include <memory>
#include <unordered_map>

#include "base/clock.h"
#include "sim/net/capacity.h"
#include "sim/net/fluid/fluid_link.h"
#include "sim/net/fluid/fluid_state.h"
#include "sim/net/fluid/max_min.h"
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
  // The life of a transfer (fluid_network.cc).
  FluidStream& take_slot(const Transfer& transfer, TransferListener& listener);
  void release(FluidStream& stream);
  [[nodiscard]] FluidStream* find(TransferId id) const;
  const FluidPath& fluid_path(const Path& path);
  // The channel of the transfer before, if this one wants the same.
  [[nodiscard]] FluidChannel* last_channel_for(NodeId from, NodeId to, ConnectionGroup group) const;
  [[nodiscard]] const Path* find_path(NodeId from, NodeId to, ConnectionGroup group) const {
    const FluidChannel* last = last_channel_for(from, to, group);
    return last ? last->path->path : paths_.find(from, to, group);
  }
  FluidChannel& channel_for(const Transfer& transfer, const Path& path);
  void drop_if_closed(FluidChannel& channel);
  [[nodiscard]] Instant request_arrives(FluidChannel& channel, const Transfer& transfer) const;
  void fail(TransferId id, TransferFailure why);
  void on_request(TransferId id);
  void on_stop(TransferId id);
  void on_mark_arrived(TransferId id);
  void on_last_byte_arrived(TransferId id);

  // Rates (fluid_share.cc): find those concerned, settle them, change something, share anew.
  void gather(FluidChannel& channel);
  void settle_gathered(Instant now);
  void reshare(Instant now);
  void join_or_leave(FluidChannel& channel);
  [[nodiscard]] bool is_alone(const FluidChannel& channel) const;
  void rest(FluidChannel& channel);
  void share(Instant now);
  [[nodiscard]] std::int64_t weight_of(const FluidChannel& channel, Instant now) const;
  [[nodiscard]] std::optional<DataRate> own_limit(const FluidChannel& channel, Instant now);
  void flow_shared(FluidChannel& channel, DataRate rate, Instant now);
  void draw_links(Instant now);

  // The flow of the data (fluid_flow.cc).
  void on_timer();
  void settle(FluidChannel& channel, Instant now);
  void finish_head(FluidChannel& channel, Instant now);
  void begin_head(FluidChannel& channel, Instant at);
  // Inline, or each piece would pass through memory twice.
  [[gnu::always_inline]] inline SentCurve::Piece step(const FluidChannel& channel,
                                                      FluidChannel::Progress& progress,
                                                      Instant until, RateUntil& flow);
  [[nodiscard]] RateUntil path_rate(const FluidChannel& channel, Instant at);
  void plan(FluidChannel& channel);
  void set_event(FluidChannel& channel);
  void find_mark(FluidChannel& channel);

  // Who is told what, at once or when it arrives (fluid_flow.cc).
  struct Arrival {
    TransferId id;
    bool is_last;  // byte; otherwise a mark
  };
  void note_marks(FluidChannel& channel, Instant now);
  void tell(const FluidStream& stream, Instant left, bool is_last, Instant now);
  void finish_event();

  [[nodiscard]] FluidLink& link(LinkId id) { return links_[static_cast<std::size_t>(id.value)]; }

  Clock& clock_;
  const TopologySpec topology_;
  const TransportSpec transport_;
  PathTable paths_;
  std::vector<LinkCapacity> capacity_;                   // [link]
  std::vector<FluidLink> links_;                         // [link]
  std::vector<std::unique_ptr<FluidPath>> fluid_paths_;  // [Path::number]

  std::vector<std::unique_ptr<FluidStream>> streams_;  // by slot; freed slots are used again
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::unique_ptr<FluidChannel>> channels_;  // all that ever were; used again
  std::vector<FluidChannel*> free_channels_;
  FluidChannel* last_channel_ = nullptr;  // that a transfer began on, unless it is free
  // The first channel of each group; looked up by number only.
  std::unordered_map<std::uint64_t, FluidChannel*> groups_;
  std::uint64_t next_order_ = 1;

  EventHeap<FluidChannel> events_;
  TimerId timer_;
  Instant armed_ = Instant::max();
  std::vector<Arrival> arrivals_;  // of this instant, to be told when the event is done

  // Of one event, kept to save allocations.
  std::uint64_t search_ = 0;
  std::vector<FluidChannel*> due_, gathered_, shared_;
  std::vector<LinkId> gathered_links_;
  std::span<const LinkId> gathered_on_;  // these, or those of a channel alone
  MaxMinSolver solver_;
  std::vector<DataRate> capacity_now_;  // [link], of links shared now
  std::vector<MaxMinFlow> flows_;
};

}  // namespace sluice
