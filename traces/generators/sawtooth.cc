// A ramp in equal steps between two rates, over and over.
// Surprise: step boundaries are rounded down to whole nanoseconds of the period, so the steps of
// one period differ by at most a nanosecond and periods never drift.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "traces/generators/generator.h"

namespace sluice {
namespace {

constexpr std::int64_t kMaxStepsPerPeriod = 100'000;
constexpr std::array<std::string_view, 3> kShapes{"rise", "fall", "triangle"};  // as in Shape

// Which of `num_levels` levels, from 0 (low), the step has.
std::int64_t level_of(const SawtoothSpec& spec, std::int64_t step) {
  const std::int64_t back = spec.steps - 1 - step;
  if (spec.shape == SawtoothSpec::Shape::kRise) return step;
  if (spec.shape == SawtoothSpec::Shape::kFall) return back;
  return std::min(step, back);
}

DataRate rate_of(const SawtoothSpec& spec, std::int64_t step) {
  const bool triangle = spec.shape == SawtoothSpec::Shape::kTriangle;
  const std::int64_t num_levels = triangle ? spec.steps / 2 : spec.steps;
  const std::int64_t span = (spec.high - spec.low).bits_per_sec();
  const std::int64_t level = level_of(spec, step);
  // span is at most 4e14 and a level below 1e5: the product would pass 2^63.
  const detail::Wide above = detail::Wide{span} * level / (num_levels - 1);
  return spec.low + DataRate::bits_per_sec(static_cast<std::int64_t>(above));
}

Duration boundary(const SawtoothSpec& spec, std::int64_t step) {
  const detail::Wide ns = detail::Wide{to_ns(spec.period)} * step / spec.steps;
  return nanoseconds(static_cast<std::int64_t>(ns));
}

}  // namespace

Status check(const SawtoothSpec& spec) {
  if (Status in_range = check_low_high(spec.low, spec.high); !in_range) return in_range;
  if (Status in_range = check_time(spec.period, "period"); !in_range) return in_range;
  const bool triangle = spec.shape == SawtoothSpec::Shape::kTriangle;
  const std::int64_t fewest = triangle ? 4 : 2;
  if (spec.steps < fewest || spec.steps > kMaxStepsPerPeriod || (triangle && spec.steps % 2 != 0)) {
    return error_in("", fmt::format("steps: {} is out of range", spec.steps),
                    fmt::format("use {} to {}{}", fewest, kMaxStepsPerPeriod,
                                triangle ? ", an even number" : ""));
  }
  if (to_ns(spec.period) >= spec.steps) return {};
  return error_in("",
                  fmt::format("steps: {} do not fit in {}", spec.steps, exact_text(spec.period)),
                  "a step takes at least a nanosecond");
}

Status draw(const SawtoothSpec& spec, RandomStream& /*random*/, Duration length, LinkTrace& trace) {
  const Duration shortest = nanoseconds(to_ns(spec.period) / spec.steps);
  if (Status few = check_num_steps(shortest, "steps", length); !few) return few;
  StepList steps;
  for (std::int64_t step = 0; steps.length() < length; step = (step + 1) % spec.steps) {
    const Duration time = boundary(spec, step + 1) - boundary(spec, step);
    steps.append(std::min(time, length - steps.length()), rate_of(spec, step));
  }
  std::move(steps).move_to(trace);
  return {};
}

std::string parameter_text(const SawtoothSpec& spec) {
  return fmt::format("low={} high={} period={} steps={} shape={}", exact_text(spec.low),
                     exact_text(spec.high), exact_text(spec.period), spec.steps,
                     kShapes[static_cast<std::size_t>(spec.shape)]);
}

Result<GeneratorSpec> parse_sawtooth(const Parameters& parameters) {
  SawtoothSpec spec;
  for (const Status& read :
       {parameters.read("low", spec.low), parameters.read("high", spec.high),
        parameters.read("period", spec.period), parameters.read("steps", spec.steps),
        parameters.read("shape", kShapes, spec.shape)}) {
    if (!read) return read.error();
  }
  return GeneratorSpec{spec};
}

}  // namespace sluice
