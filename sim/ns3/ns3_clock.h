// ns-3's scheduler as a RunnableClock.
// Where in the flow: under the ns-3 tiers, whose devices schedule on the same simulator.
// Surprise: ns-3's simulator is global; a second Ns3Clock while one lives aborts, one after the
// other is fine.
#pragma once

#include <memory>

#include "base/clock.h"

namespace sluice {

class Ns3Clock final : public RunnableClock {
 public:
  Ns3Clock();
  ~Ns3Clock() override;  // destroys all nodes, devices and events of ns-3
  Ns3Clock(const Ns3Clock&) = delete;
  Ns3Clock& operator=(const Ns3Clock&) = delete;

  [[nodiscard]] Instant now() const override;
  TimerId schedule(Instant at, std::function<void()> callback) override;
  void cancel(TimerId id) override;
  // Counts the callbacks of this clock, not the events of ns-3's devices.
  std::uint64_t run(Instant until = Instant::max()) override;
  void stop() override;

 private:
  struct Timers;
  void fire(std::uint64_t id);
  void stop_when_quiet(std::uint64_t num_events);

  std::unique_ptr<Timers> timers_;  // keeps ns-3's headers out of this one
  std::uint64_t next_id_ = 1;
  std::uint64_t num_run_ = 0;
};

}  // namespace sluice
