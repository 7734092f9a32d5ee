#include "sim/serving/cross_traffic.h"

#include "base/assert.h"

namespace sluice {
namespace {

// Loads number their groups from zero up.
constexpr std::uint64_t kFirstGroup = std::uint64_t{1} << 62;
// 266 days at 400 Gbit/s: no run is longer.
constexpr DataSize kEndless = DataSize::bytes(std::int64_t{1} << 60);

}  // namespace

CrossTrafficSource::CrossTrafficSource(Clock& clock, Network& network, const Scenario& scenario,
                                       StageKey stage)
    : clock_(clock), network_(network), scenario_(scenario), next_group_(kFirstGroup) {
  for (std::size_t i = 0; i < scenario.cross_traffic.size(); ++i) {
    const CrossTraffic& traffic = scenario.cross_traffic[i];
    if (std::holds_alternative<SteadyTraffic>(traffic)) continue;  // the network's own
    flows_.push_back({&traffic, stage_stream(scenario, stage, "cross-traffic", i)});
  }
}

void CrossTrafficSource::begin() {
  for (Flow& flow : flows_) {
    if (const auto* transfers = std::get_if<PoissonTraffic>(flow.traffic)) {
      wait_for_next(flow, *transfers);
    } else {
      begin_transfer(flow);
    }
  }
}

void CrossTrafficSource::wait_for_next(Flow& flow, const PoissonTraffic& traffic) {
  const Duration gap = seconds_to_duration(flow.random.exponential(to_seconds(traffic.mean_gap)));
  clock_.schedule_in(gap, [this, &flow, &traffic] {
    begin_transfer(flow);
    wait_for_next(flow, traffic);
  });
}

void CrossTrafficSource::begin_transfer(Flow& flow) {
  Transfer transfer;
  const CrossTrafficEnds* ends = nullptr;
  if (const auto* transfers = std::get_if<PoissonTraffic>(flow.traffic)) {
    ends = &transfers->ends;
    const std::int64_t width = (transfers->high - transfers->low).bytes() + 1;
    transfer.size = transfers->low + DataSize::bytes(static_cast<std::int64_t>(
                                         flow.random.below(static_cast<std::uint64_t>(width))));
    transfer.connections = transfers->connections;
  } else {
    const auto& competing = std::get<CompetingTraffic>(*flow.traffic);
    ends = &competing.ends;
    transfer.size = kEndless;
    transfer.connections = competing.connections;
  }
  const DrawnEnds drawn = draw_ends(scenario_.topology, *ends, flow.random);
  transfer.from = drawn.from;
  transfer.to = drawn.to;
  begin_on_new_connections(transfer);
}

void CrossTrafficSource::begin_on_new_connections(Transfer transfer) {
  transfer.group = ConnectionGroup{next_group_++};
  open_.emplace(network_.start(transfer, *this), transfer);
}

void CrossTrafficSource::on_complete(TransferId id) {
  const auto found = open_.extract(id);
  SLUICE_ASSERT(!found.empty(), "a transfer that was never begun");
  network_.close(found.mapped().group);
}

void CrossTrafficSource::on_failure(TransferId id, TransferFailure why) {
  SLUICE_ASSERT(why == TransferFailure::kLinkDown,
                "checked with the scenario: every host reaches every other, without chunks");
  const auto found = open_.extract(id);
  SLUICE_ASSERT(!found.empty(), "a transfer that was never begun");
  network_.close(found.mapped().group);
  if (found.mapped().size != kEndless) return;
  clock_.schedule_in(Duration::zero(),
                     [this, again = found.mapped()] { begin_on_new_connections(again); });
}

}  // namespace sluice
