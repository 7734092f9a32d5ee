#include "traces/link_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "traces/step_times.h"

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

Status check_companion(const LinkTrace& trace, std::string_view what, Duration length,
                       TraceEnd end) {
  if (trace.clock == TraceClock::kTime && length == trace.length && end == trace.end) return {};
  return error_in(trace.name, fmt::format("the {} is not clocked as the rates are", what),
                  "give it the length and the end of the trace");
}

Status check_companions(const LinkTrace& trace) {
  if (trace.delay) {
    if (Status sound = check_delay_trace(*trace.delay, trace.name); !sound) return sound;
    if (Status fits = check_companion(trace, "delay", trace.delay->length, trace.delay->end); !fits)
      return fits;
  }
  if (trace.loss) {
    if (Status sound = check_loss_trace(*trace.loss, trace.name); !sound) return sound;
    if (Status fits = check_companion(trace, "loss", trace.loss->length, trace.loss->end); !fits)
      return fits;
  }
  return {};
}

Status check_counts(const LinkTrace& trace) {
  std::int64_t sum = 0;
  for (const SkippedRows& rows : trace.skipped) sum += rows.count;
  if (sum == trace.num_skipped) return {};
  return error_in(
      trace.name,
      fmt::format("{} rows are skipped, and reasons given for {}", trace.num_skipped, sum),
      "count them with LinkTrace::skip()");
}

}  // namespace

void LinkTrace::skip(std::int64_t count, std::string reason) {
  if (count == 0) return;
  num_skipped += count;
  const auto known = std::find_if(skipped.begin(), skipped.end(),
                                  [&](const SkippedRows& rows) { return rows.reason == reason; });
  if (known != skipped.end()) {
    known->count += count;
  } else {
    skipped.push_back({count, std::move(reason)});
  }
}

Status check_trace(const LinkTrace& trace) {
  if (trace.steps.empty())
    return error_in(trace.name, "the trace has no steps", "give at least one rate");
  if (Status rates = check_rates(trace); !rates) return rates;
  if (Status counts = check_counts(trace); !counts) return counts;
  if (Status companions = check_companions(trace); !companions) return companions;
  if (trace.clock == TraceClock::kTime)
    return check_step_times(trace.steps, trace.length, trace.name);
  const bool timed = trace.length != Duration::zero() ||
                     std::any_of(trace.steps.begin(), trace.steps.end(),
                                 [](const RateStep& s) { return s.start != Duration::zero(); });
  if (timed)
    return error_in(trace.name, "a chunk-clocked trace has times",
                    "leave starts and length at zero");
  return {};
}

TraceCursor::TraceCursor(const LinkTrace& trace, Duration offset)
    : trace_(&trace), cursor_(trace.steps, trace.length, trace.end, offset) {
  SLUICE_ASSERT(trace.clock == TraceClock::kTime, "a cursor needs a time-clocked trace");
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
