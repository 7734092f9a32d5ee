#include "traces/link_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace sluice {
namespace {

constexpr DataRate kLowestPlausibleMean = DataRate::bits_per_sec(10'000);
constexpr DataRate kHighestPlausibleMean = DataRate::bits_per_sec(400'000'000'000);

std::string row_name(std::size_t index) {
  return fmt::format("step {}", index + 1);
}

Status check_rates(const LinkTrace& trace) {
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    if (trace.steps[i].rate < DataRate::zero()) {
      return error_in(trace.name, row_name(i) + ": the rate is negative", "rates are zero or more");
    }
    if (trace.steps[i].rate > kMaxLinkRate) {
      return error_in(trace.name,
                      fmt::format("{}: the rate {} is above {}", row_name(i),
                                  to_text(trace.steps[i].rate), to_text(kMaxLinkRate)),
                      "check the unit");
    }
  }
  return {};
}

Status check_times(const LinkTrace& trace) {
  if (trace.steps.front().start != Duration::zero()) {
    return error_in(trace.name, "the first step does not start at zero", "shift the times");
  }
  for (std::size_t i = 1; i < trace.steps.size(); ++i) {
    if (trace.steps[i].start <= trace.steps[i - 1].start) {
      return error_in(trace.name, row_name(i) + ": time does not go forward",
                      "sort the rows by time");
    }
  }
  if (trace.length <= trace.steps.back().start) {
    return error_in(trace.name, "the trace ends before its last step begins", "give its length");
  }
  if (trace.length > kMaxTraceLength) {
    return error_in(trace.name, "the trace is longer than ten years",
                    "check the unit of its times");
  }
  return {};
}

}  // namespace

Status check_trace(const LinkTrace& trace) {
  if (trace.steps.empty())
    return error_in(trace.name, "the trace has no steps", "give at least one rate");
  if (Status rates = check_rates(trace); !rates) return rates;
  if (trace.clock == TraceClock::kTime) return check_times(trace);
  const bool timed = trace.length != Duration::zero() ||
                     std::any_of(trace.steps.begin(), trace.steps.end(),
                                 [](const RateStep& s) { return s.start != Duration::zero(); });
  if (timed)
    return error_in(trace.name, "a chunk-clocked trace has times",
                    "leave starts and length at zero");
  return {};
}

TraceCursor::TraceCursor(const LinkTrace& trace, Duration offset)
    : trace_(&trace), offset_(offset) {
  SLUICE_ASSERT(trace.clock == TraceClock::kTime, "a cursor needs a time-clocked trace");
  SLUICE_ASSERT(!trace.steps.empty() && trace.length > Duration::zero(),
                "a cursor needs a checked trace");
  SLUICE_ASSERT(offset >= Duration::zero(), "a cursor needs an offset >= 0");
  if (trace.end == TraceEnd::kLoop) offset_ %= trace.length;
}

std::size_t TraceCursor::step_index(Duration position) const {
  const auto& steps = trace_->steps;
  const auto after = std::upper_bound(steps.begin(), steps.end(), position,
                                      [](Duration p, const RateStep& s) { return p < s.start; });
  return static_cast<std::size_t>(after - steps.begin()) - 1;
}

Duration TraceCursor::position_of(Instant t) const {
  SLUICE_ASSERT(t >= kRunStart, "a trace is read at instants of the run");
  const Duration elapsed = offset_ + t.time_since_epoch();
  return trace_->end == TraceEnd::kLoop ? elapsed % trace_->length : elapsed;
}

DataRate TraceCursor::rate_at(Instant t) const {
  return trace_->steps[step_index(position_of(t))].rate;
}

std::optional<Instant> TraceCursor::next_change(Instant t) const {
  const auto& steps = trace_->steps;
  const Duration position = position_of(t);
  Instant lap_start =
      t - position;  // where this lap began; before the run's start in its first lap
  std::size_t i = step_index(position);
  const DataRate now = steps[i].rate;
  for (std::size_t seen = 0; seen < steps.size(); ++seen) {
    if (++i == steps.size()) {
      if (trace_->end == TraceEnd::kHold) return std::nullopt;
      i = 0;
      lap_start += trace_->length;
    }
    if (steps[i].rate != now) return lap_start + steps[i].start;
  }
  return std::nullopt;
}

DataSize TraceCursor::capacity_between(Instant from, Instant to) const {
  TransferSum sum;
  if (trace_->end == TraceEnd::kLoop && from < to) {
    const std::int64_t num_laps = (to - from) / trace_->length;
    TransferSum lap;
    for (std::size_t i = 0; num_laps > 0 && i < trace_->steps.size(); ++i) {
      lap.add(trace_->steps[i].rate, step_end(*trace_, i) - trace_->steps[i].start);
    }
    sum.add(lap, num_laps);
    from += num_laps * trace_->length;
  }
  while (from < to) {
    const Instant until = std::min(next_change(from).value_or(to), to);
    sum.add(rate_at(from), until - from);
    from = until;
  }
  return sum.bytes();
}

Duration step_end(const LinkTrace& trace, std::size_t index) {
  return index + 1 < trace.steps.size() ? trace.steps[index + 1].start : trace.length;
}

TraceSummary summarise(const LinkTrace& trace) {
  TraceSummary s;
  s.length = trace.length;
  s.min = s.max = trace.steps.front().rate;
  const bool timed = trace.clock == TraceClock::kTime;
  TransferSum sum;
  Duration weight{}, stretch{};
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const DataRate rate = trace.steps[i].rate;
    // A chunk-clocked step has no time: each weighs one nanosecond, which the mean divides out
    // again.
    const Duration time = timed ? step_end(trace, i) - trace.steps[i].start : nanoseconds(1);
    s.min = std::min(s.min, rate);
    s.max = std::max(s.max, rate);
    sum.add(rate, time);
    weight += time;
    if (rate != DataRate::zero()) {
      stretch = Duration::zero();
      continue;
    }
    ++s.num_zero_steps;
    if (!timed) continue;
    stretch += time;
    s.outage += time;
    s.longest_outage = std::max(s.longest_outage, stretch);
  }
  s.mean = sum.mean_over(weight);
  return s;
}

std::optional<std::string> doubt_about_unit(const LinkTrace& trace) {
  const DataRate mean = summarise(trace).mean;
  if (mean >= kLowestPlausibleMean && mean <= kHighestPlausibleMean) return std::nullopt;
  return fmt::format("{}: the mean rate is {}, outside {} .. {}; is `{}` the right unit?",
                     trace.name, to_text(mean), to_text(kLowestPlausibleMean),
                     to_text(kHighestPlausibleMean), trace.unit);
}

}  // namespace sluice
