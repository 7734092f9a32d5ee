// The canonical form of a link trace: capacity (and delay, where known) as a piecewise-constant function.
// Where in the flow: step 1; every reader and generator makes one, the network tiers replay it.
// Surprise: a trace may be clocked by chunks instead of time (CacheGen's bw.jsonl): then step i holds for the
// i-th chunk of a load, whatever time it is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace sluice {

// What the numbers of a trace are. Replaying achieved throughput as capacity is biased (CausalSim, NSDI 2023).
enum class TraceKind { kCapacity, kAchievedThroughput };

// What drives the steps.
enum class TraceClock { kTime, kChunk };

// What follows the last step.
enum class TraceEnd {
  kLoop,  // the trace begins again
  kHold,  // the last rate stays
};

// From `start` (inclusive) until the next step's start (exclusive) the capacity is `rate`; zero is an outage.
struct RateStep {
  Duration start{};  // since the trace began; in a chunk-clocked trace unused (zero)
  DataRate rate;
  bool operator==(const RateStep&) const = default;
};

struct LinkTrace {
  std::string name;    // for people: file name and index, or generator with its parameters
  std::string reader;  // id of the reader or generator that made it
  std::string unit;    // unit of the source's numbers, as declared or known ("Mbit/s", "1500 B packet/ms")
  std::string sha256;  // of the source bytes, or of the generator's parameters
  TraceKind kind = TraceKind::kCapacity;
  TraceClock clock = TraceClock::kTime;
  TraceEnd end = TraceEnd::kLoop;
  std::int64_t num_rows = 0;     // rows of the source that became steps
  std::int64_t num_skipped = 0;  // rows left out, for a reason the reader documents
  Duration length{};             // time-clocked: end of the last step (> its start); chunk-clocked: zero
  std::vector<RateStep> steps;   // never empty; time-clocked: starts ascend strictly from zero
};

// Refuses an empty trace, a negative rate, starts that do not ascend from zero, a length that does not pass the last start.
[[nodiscard]] Status check_trace(const LinkTrace& trace);

// Replays a time-clocked trace from an offset: what the rate is, and when it next changes.
class TraceCursor {
 public:
  // `trace` must outlive the cursor. `offset` >= 0 says where in the trace the run begins.
  TraceCursor(const LinkTrace& trace, Duration offset);
  [[nodiscard]] DataRate rate_at(Instant t) const;
  // The first instant after `t` at which the rate differs; nullopt when it never does.
  [[nodiscard]] std::optional<Instant> next_change(Instant t) const;
  // Bytes that pass in [from, to), rounded down.
  [[nodiscard]] DataSize capacity_between(Instant from, Instant to) const;

 private:
  [[nodiscard]] std::size_t step_index(Duration position) const;

  const LinkTrace* trace_;
  Duration offset_;
};

// Statistics for `trace inspect`: time-weighted for time-clocked traces, per step otherwise.
struct TraceSummary {
  Duration length{};
  DataRate mean, min, max;
};
[[nodiscard]] TraceSummary summarise(const LinkTrace& trace);

}  // namespace sluice
