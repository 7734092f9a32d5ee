// Transfers that nobody waits for: random ones, and ones that never end. They share links with the
// loads by the same transport.
// Where in the flow: beside the sessions of a run (3), on the same network (2).
// Surprise: one that never ends is begun again when its connection breaks (tier `tcp`, after an
// outage of minutes), between the same nodes; else the loads would have the link to themselves from
// then on. A random one that breaks is over: the next ones come anyway.
#pragma once

#include <map>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "sim/serving/topology.h"

namespace sluice {

class CrossTrafficSource final : private TransferListener {
 public:
  // All references must outlive it. Its draws depend on the stage only, never on a policy.
  CrossTrafficSource(Clock& clock, Network& network, const Scenario& scenario, StageKey stage);
  // Begins now and goes on as long as the clock runs.
  void begin();

 private:
  struct Flow {
    const CrossTraffic* traffic;
    RandomStream random;
  };
  void begin_transfer(Flow& flow);
  void begin_on_new_connections(Transfer transfer);
  void wait_for_next(Flow& flow, const PoissonTraffic& traffic);
  void on_complete(TransferId id) override;
  void on_failure(TransferId id, TransferFailure why) override;

  Clock& clock_;
  Network& network_;
  const Scenario& scenario_;
  std::vector<Flow> flows_;
  std::map<TransferId, Transfer> open_;
  std::uint64_t next_group_;
};

}  // namespace sluice
