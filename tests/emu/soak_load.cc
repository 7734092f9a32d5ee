#include "tests/emu/soak_load.h"

#include <algorithm>
#include <functional>

#include "emu/client/plan.h"
#include "emu/client/run_load.h"
#include "tests/emu/watchdog.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr Duration kDownTime = 50ms;
// Of the faults that may, this share never ends; the load can but fail.
constexpr double kForEver = 0.1;
constexpr DataSize kPiece = DataSize::bytes(64 << 10);

Duration between(Duration low, Duration high, RandomStream& random) {
  return Duration(static_cast<std::int64_t>(
      random.uniform(static_cast<double>(low.count()), static_cast<double>(high.count()))));
}

// Somewhere in the first half of the context at its cheapest level: every load sends that much.
DataSize early_in(const Catalogue& catalogue, RandomStream& random) {
  std::int64_t least = 0;
  for (const ChunkEntry& chunk : catalogue.chunks) {
    least += std::min_element(chunk.versions.begin(), chunk.versions.end(),
                              [](const auto& a, const auto& b) { return a.size < b.size; })
                 ->size.bytes();
  }
  return DataSize::bytes(
      1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(least / 2))));
}

// Runs one load of the client, `meanwhile` once when it begins.
Result<SoakLoad> run(SoakClient& client, const PolicySpec& policy, const char* what,
                     const std::function<void()>& meanwhile) {
  const ConnectionGroup group{static_cast<std::uint64_t>(client.num_loads)};
  const auto plan = plan_from_catalogue(*client.catalogue, client.num_loads++, {.slo = 1s});
  if (!plan) return plan.error();
  const Watchdog watchdog(what, kLoadBound * 2);
  const auto began = std::chrono::steady_clock::now();
  if (meanwhile) client.clock.schedule(client.clock.now(), meanwhile);
  auto record = run_load(client.clock, client.network, client.worker, policy, *plan, kLoadBound);
  if (!record) return record.error();
  SoakLoad load{.record = std::move(*record), .took = std::chrono::steady_clock::now() - began};
  load.wrong_tensors = count_wrong_tensors(*client.catalogue, load.record, client.worker);
  client.worker.release(group);
  return load;
}

FaultKind kind_of(SoakFault fault) {
  switch (fault) {
    case SoakFault::kReset:
      return FaultKind::kReset;
    case SoakFault::kStalledDisk:
      return FaultKind::kStall;
    case SoakFault::kCorruptAtRest:
      return FaultKind::kCorruptDisk;
    case SoakFault::kCorruptOnWire:
      return FaultKind::kCorruptFrame;
    case SoakFault::kHalfOpen:
      return FaultKind::kHalfOpen;
    default:
      return FaultKind::kRefuse;
  }
}

// The server commits it at one, two or three requests, or at all of them.
Result<SoakLoad> run_with_server_fault(SoakFault fault, SoakPlace& place, SoakClient& client,
                                       const PolicySpec& policy, RandomStream& random) {
  const bool for_ever = random.bernoulli(kForEver);
  ServerFault planned{.kind = kind_of(fault)};
  if (!for_ever) {
    planned.request = static_cast<std::int64_t>(random.below(client.catalogue->chunks.size()));
    planned.times = 1 + static_cast<std::int64_t>(random.below(3));
  } else {
    planned.times = 0;
  }
  if (!for_ever) {
    planned.after = early_in(*client.catalogue, random);
  } else if (random.bernoulli(0.5)) {
    planned.after = kPiece;  // each new connection gets that much further
  }
  planned.delay = between(20ms, 200ms, random);  // patience is 100 ms
  place.server()->set_faults({planned});
  auto load = run(client, policy, to_text(fault), {});
  if (load) load->injected = place.server()->fault_hits() > 0;
  place.server()->set_faults({});
  return load;
}

// Ends the server once it has sent so much.
Result<SoakLoad> run_with_server_gone(SoakPlace& place, SoakClient& client,
                                      const PolicySpec& policy, RandomStream& random) {
  const DataSize until = place.server()->counts().bytes_sent + early_in(*client.catalogue, random);
  const bool for_ever = random.bernoulli(kForEver);
  std::optional<TimerId> timer;
  bool ended = false;
  Status restarted;
  std::function<void()> look = [&] {
    if (place.server()->counts().bytes_sent < until) {
      timer = client.clock.schedule_in(500us, look);
      return;
    }
    place.end_server();
    ended = true;
    timer.reset();
    if (for_ever) return;
    timer = client.clock.schedule_in(kDownTime, [&] {
      timer.reset();
      restarted = place.start_server();
    });
  };
  auto load = run(client, policy, to_text(SoakFault::kServerGone), look);
  if (timer) client.clock.cancel(*timer);
  if (!restarted) return restarted.error();
  if (load) load->injected = ended;
  if (!place.server()) {
    if (const Status started = place.start_server(); !started) return started.error();
  }
  return load;
}

Result<SoakLoad> run_with_outage(SoakPlace& place, SoakClient& client, const PolicySpec& policy,
                                 RandomStream& random) {
  Outage outage{.after = between(10ms, 80ms, random), .length = between(30ms, 400ms, random)};
  if (random.bernoulli(kForEver)) outage.length.reset();
  if (const Status armed = place.rearm(outage); !armed) return armed.error();
  auto load = run(client, policy, to_text(SoakFault::kLinkOutage), {});
  const auto began = place.link()->began_at();
  if (load) load->injected = began && std::chrono::steady_clock::now() > *began + outage.after;
  if (const Status armed = place.rearm(std::nullopt); !armed) return armed.error();
  return load;
}

}  // namespace

Result<SoakLoad> run_load_with(SoakFault fault, SoakPlace& place, SoakClient& client,
                               const PolicySpec& policy, RandomStream& random) {
  switch (fault) {
    case SoakFault::kServerGone:
      return run_with_server_gone(place, client, policy, random);
    case SoakFault::kLinkOutage:
      return run_with_outage(place, client, policy, random);
    default:
      return run_with_server_fault(fault, place, client, policy, random);
  }
}

// The disk stalls in the middle of a chunk, so that the load is under way when the signal comes.
Result<SoakLoad> run_load_with_kill(ServerProcess& process, SoakClient& client,
                                    const PolicySpec& policy, RandomStream& random) {
  const bool for_ever = random.bernoulli(kForEver);
  std::optional<TimerId> timer;
  Status restarted;
  bool killed = false;
  const std::function<void()> kill_later = [&] {
    timer = client.clock.schedule_in(between(1ms, 60ms, random), [&] {
      process.kill();
      killed = true;
      timer.reset();
      if (for_ever) return;
      timer = client.clock.schedule_in(kDownTime, [&] {
        timer.reset();
        restarted = process.start("");
      });
    });
  };
  auto load = run(client, policy, to_text(SoakFault::kProcessKilled), kill_later);
  if (timer) client.clock.cancel(*timer);
  if (!restarted) return restarted.error();
  if (load) load->injected = killed;
  return load;
}

}  // namespace sluice
