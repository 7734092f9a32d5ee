#include "sim/ns3/ns3_clock.h"

#include <ns3/nstime.h>
#include <ns3/simulator.h>

#include <unordered_map>

#include "base/assert.h"

namespace sluice {
namespace {

bool is_alive = false;  // ns-3's simulator is a global too; this one only guards it

}  // namespace

struct Ns3Clock::Timers {
  struct Timer {
    ns3::EventId event;
    std::function<void()> callback;
  };
  std::unordered_map<std::uint64_t, Timer> pending;  // looked up only
  ns3::EventId guard;                                // of run(until)
};

Ns3Clock::Ns3Clock() : timers_(std::make_unique<Timers>()) {
  SLUICE_ASSERT(!is_alive, "two ns-3 clocks at once: ns-3 has one simulator per process");
  is_alive = true;
  SLUICE_ASSERT(now() == kRunStart, "ns-3's simulator was used and not destroyed");
}

Ns3Clock::~Ns3Clock() {
  ns3::Simulator::Destroy();
  is_alive = false;
}

Instant Ns3Clock::now() const {
  return at_ns(ns3::Simulator::Now().GetNanoSeconds());
}

TimerId Ns3Clock::schedule(Instant at, std::function<void()> callback) {
  const std::uint64_t id = next_id_++;
  const Duration delay = std::max(Duration::zero(), at - now());
  const ns3::EventId event =
      ns3::Simulator::Schedule(ns3::NanoSeconds(to_ns(delay)), &Ns3Clock::fire, this, id);
  timers_->pending.emplace(id, Timers::Timer{event, std::move(callback)});
  return TimerId{id};
}

void Ns3Clock::cancel(TimerId id) {
  const auto found = timers_->pending.find(id.value);
  if (found == timers_->pending.end()) return;
  // Not Cancel(): ns-3 would keep the event and its clock would still run on to it.
  ns3::Simulator::Remove(found->second.event);
  timers_->pending.erase(found);
}

void Ns3Clock::fire(std::uint64_t id) {
  auto timer = timers_->pending.extract(id);
  ++num_run_;
  timer.mapped().callback();
}

// ns-3 stops before other events of the same instant that were scheduled later. Ours runs all of
// that instant: it stops when nothing but this very event ran since it looked last.
void Ns3Clock::stop_when_quiet(std::uint64_t num_events) {
  const std::uint64_t num_now = ns3::Simulator::GetEventCount();
  if (num_now == num_events + 1) return ns3::Simulator::Stop();
  timers_->guard =
      ns3::Simulator::Schedule(ns3::Time(0), &Ns3Clock::stop_when_quiet, this, num_now);
}

std::uint64_t Ns3Clock::run(Instant until) {
  num_run_ = 0;
  if (until < now()) return 0;
  if (until != Instant::max()) {
    timers_->guard = ns3::Simulator::Schedule(ns3::NanoSeconds(to_ns(until - now())),
                                              &Ns3Clock::stop_when_quiet, this, 0);
  }
  ns3::Simulator::Run();
  if (!timers_->guard.IsExpired()) ns3::Simulator::Remove(timers_->guard);
  return num_run_;
}

void Ns3Clock::stop() {
  ns3::Simulator::Stop();
}

}  // namespace sluice
