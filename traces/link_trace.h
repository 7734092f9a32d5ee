// The canonical form of a link trace: capacity as a piecewise-constant function.
// Where in the flow: step 1; every reader and generator makes one, the network tiers replay it.
// Surprise: a trace may be clocked by chunks instead of time (CacheGen's bw.jsonl): then step i
// holds for the i-th chunk of a load, whatever time it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "traces/delay_trace.h"
#include "traces/loss_trace.h"
#include "traces/step_cursor.h"
#include "traces/trace_end.h"

namespace sluice {

// What the numbers of a trace are. Replaying achieved throughput as capacity is biased (CausalSim,
// NSDI 2023).
enum class TraceKind { kCapacity, kAchievedThroughput };

// What drives the steps.
enum class TraceClock { kTime, kChunk };

// From `start` (inclusive) until the next step's start (exclusive) the capacity is `rate`; zero is
// an outage.
struct RateStep {
  Duration start{};  // since the trace began; in a chunk-clocked trace unused (zero)
  DataRate rate;
  bool operator==(const RateStep&) const = default;
};

// A thousand times the fastest Ethernet port: a rate above it is a slip of units, never a link.
inline constexpr DataRate kMaxLinkRate = DataRate::bits_per_sec(400'000'000'000'000);

// Rows of a source that became no step, and why.
struct SkippedRows {
  std::int64_t count = 0;
  std::string reason;  // completes "N rows skipped: ..."
  bool operator==(const SkippedRows&) const = default;
};

struct LinkTrace {
  std::string name;    // for people: file name and index, or generator with its parameters
  std::string reader;  // id of the reader or generator that made it
  // Unit of the source's numbers, as declared or known ("Mbit/s", "1500 B packet/ms").
  std::string unit;
  // Of the source bytes (the file; of several traces in a file, the trace's line), or of the
  // generator's id, parameters, seed, replicate and length.
  std::string sha256;
  TraceKind kind = TraceKind::kCapacity;
  TraceClock clock = TraceClock::kTime;
  TraceEnd end = TraceEnd::kLoop;
  std::int64_t num_rows = 0;         // rows of the source that became steps
  std::int64_t num_skipped = 0;      // rows left out: the sum over `skipped`
  std::vector<SkippedRows> skipped;  // by reason, each of them once
  std::vector<std::string> notes;    // what else the reader decided, for people: one sentence each
  Duration length{};  // time-clocked: end of the last step (> its start); chunk-clocked: zero
  std::vector<RateStep> steps;  // never empty; time-clocked: starts ascend strictly from zero
  // Where the source says them; as long as the trace, with the same end. Never chunk-clocked.
  std::optional<DelayTrace> delay;
  std::optional<LossTrace> loss;

  // Counts rows that were left out.
  void skip(std::int64_t count, std::string reason);
};

// Refuses an empty trace, a rate below zero or above kMaxLinkRate, starts that do not ascend from
// zero, a length that does not pass the last start or passes kMaxTraceLength, a chunk-clocked trace
// with times, a delay or loss that is unsound or not as long as the trace, skipped rows that do not
// add up.
[[nodiscard]] Status check_trace(const LinkTrace& trace);

// Replays a time-clocked trace from an offset: what the rate is, and when it next changes.
class TraceCursor {
 public:
  // `trace` must outlive the cursor and pass check_trace(). `offset` >= 0 says where in the trace
  // the run begins; past the end of a looping trace it counts on into the next laps. Instants are
  // not before the run's start.
  TraceCursor(const LinkTrace& trace, Duration offset);
  [[nodiscard]] DataRate rate_at(Instant t) const { return cursor_.value_at(t); }
  // The first instant after `t` at which the rate differs; nullopt when it never does.
  [[nodiscard]] std::optional<Instant> next_change(Instant t) const {
    return cursor_.next_change(t);
  }
  // Both at once; Instant::max() in place of nullopt.
  [[nodiscard]] auto stretch_at(Instant t) const { return cursor_.stretch_at(t); }
  // Bytes that pass in [from, to), rounded down once; zero when `to` is not after `from`.
  // Throws std::overflow_error past 2^63 bytes.
  [[nodiscard]] DataSize capacity_between(Instant from, Instant to) const;

 private:
  const LinkTrace* trace_;
  StepCursor<RateStep, &RateStep::rate> cursor_;
};

// When step `index` of a time-clocked trace ends.
[[nodiscard]] Duration step_end(const LinkTrace& trace, std::size_t index);

// Statistics for `trace inspect`: time-weighted for time-clocked traces, per step otherwise.
struct TraceSummary {
  Duration length{};  // zero when chunk-clocked, as are the two outage times
  DataRate mean, min, max;
  Duration outage{};          // time at rate zero in one lap
  Duration longest_outage{};  // the longest stretch of it, not across the end of the lap
  std::int64_t num_zero_steps = 0;
};
// `trace` must pass check_trace().
[[nodiscard]] TraceSummary summarise(const LinkTrace& trace);

// One sentence when the mean rate lies outside 0.01 Mbit/s .. 400 Gbit/s, where a wrong unit is
// likelier than such a link; nullopt otherwise.
[[nodiscard]] std::optional<std::string> doubt_about_unit(const LinkTrace& trace);

}  // namespace sluice
