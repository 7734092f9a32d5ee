#include "traces/link_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace sluice {
namespace {

std::string row_name(std::size_t index) { return fmt::format("step {}", index + 1); }

}  // namespace

Status check_trace(const LinkTrace& trace) {
  if (trace.steps.empty()) return error_in(trace.name, "the trace has no steps", "give at least one rate");
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    if (trace.steps[i].rate < DataRate::zero()) {
      return error_in(trace.name, fmt::format("{}: the rate is negative", row_name(i)), "rates are zero or more");
    }
  }
  if (trace.clock == TraceClock::kChunk) return {};
  if (trace.steps.front().start != Duration::zero()) {
    return error_in(trace.name, "the first step does not start at zero", "shift the times");
  }
  for (std::size_t i = 1; i < trace.steps.size(); ++i) {
    if (trace.steps[i].start <= trace.steps[i - 1].start) {
      return error_in(trace.name, fmt::format("{}: time does not go forward", row_name(i)), "sort the rows by time");
    }
  }
  if (trace.length <= trace.steps.back().start) {
    return error_in(trace.name, "the trace ends before its last step begins", "give its length");
  }
  return {};
}

TraceCursor::TraceCursor(const LinkTrace& trace, Duration offset) : trace_(&trace), offset_(offset) {
  SLUICE_ASSERT(trace.clock == TraceClock::kTime, "a cursor needs a time-clocked trace");
  SLUICE_ASSERT(!trace.steps.empty() && offset >= Duration::zero(), "a cursor needs steps and an offset >= 0");
}

std::size_t TraceCursor::step_index(Duration position) const {
  const auto& steps = trace_->steps;
  const auto after = std::upper_bound(steps.begin(), steps.end(), position,
                                      [](Duration p, const RateStep& s) { return p < s.start; });
  return static_cast<std::size_t>(after - steps.begin()) - 1;
}

DataRate TraceCursor::rate_at(Instant t) const {
  const Duration elapsed = offset_ + t.time_since_epoch();
  if (trace_->end == TraceEnd::kHold) return trace_->steps[step_index(elapsed)].rate;
  return trace_->steps[step_index(elapsed % trace_->length)].rate;
}

std::optional<Instant> TraceCursor::next_change(Instant t) const {
  const auto& steps = trace_->steps;
  const DataRate now = rate_at(t);
  const Duration elapsed = offset_ + t.time_since_epoch();
  const bool loops = trace_->end == TraceEnd::kLoop;
  Duration lap_start = loops ? elapsed - elapsed % trace_->length : Duration::zero();
  std::size_t i = step_index(elapsed - lap_start) + 1;
  for (std::size_t seen = 0; seen < steps.size(); ++seen, ++i) {
    if (i == steps.size()) {
      if (!loops) return std::nullopt;
      i = 0;
      lap_start += trace_->length;
    }
    if (steps[i].rate != now) return Instant{lap_start + steps[i].start - offset_};
  }
  return std::nullopt;
}

DataSize TraceCursor::capacity_between(Instant from, Instant to) const {
  DataSize sum;
  while (from < to) {
    const auto change = next_change(from);
    const Instant until = change ? std::min(*change, to) : to;
    sum += rate_at(from) * (until - from);
    from = until;
  }
  return sum;
}

TraceSummary summarise(const LinkTrace& trace) {
  TraceSummary s;
  s.min = s.max = trace.steps.front().rate;
  double weighted = 0, weight = 0;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const DataRate rate = trace.steps[i].rate;
    s.min = std::min(s.min, rate);
    s.max = std::max(s.max, rate);
    const Duration end = i + 1 < trace.steps.size() ? trace.steps[i + 1].start : trace.length;
    const double share = trace.clock == TraceClock::kTime ? to_seconds(end - trace.steps[i].start) : 1.0;
    weighted += static_cast<double>(rate.bits_per_sec()) * share;
    weight += share;
  }
  s.mean = DataRate::bits_per_sec(static_cast<std::int64_t>(weighted / weight + 0.5));
  s.length = trace.clock == TraceClock::kTime ? trace.length : Duration::zero();
  return s;
}

}  // namespace sluice
