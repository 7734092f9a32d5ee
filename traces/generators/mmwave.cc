// A millimetre-wave link: shadowing in line of sight, and people who walk through the beam.
// Surprise: blockages have exact times, but the rate is sampled at the start of each step; one
// shorter than a step may be missed, as in any measurement.
#include <fmt/format.h>

#include <algorithm>

#include "traces/generators/dwell.h"
#include "traces/generators/gaussian_walk.h"
#include "traces/generators/generator.h"

namespace sluice {
namespace {

enum Phase : std::size_t { kClear, kFalling, kBlocked, kRising };

// Ramps may be left out.
Status check_ramp(Duration time, std::string_view field) {
  return time == Duration::zero() ? Status{} : check_time(time, field);
}

// How much of the line of sight there is, 0 (blocked) to 1.
double openness(const Turns& turns, const MmwaveSpec& spec) {
  const double left = to_seconds(turns.left());
  switch (turns.state()) {
    case kClear:
      return 1;
    case kFalling:
      return left / to_seconds(spec.fall_time);
    case kBlocked:
      return 0;
    default:
      return 1 - left / to_seconds(spec.rise_time);
  }
}

}  // namespace

Status check(const MmwaveSpec& spec) {
  for (const Status& in_range :
       {check_rate(spec.line_of_sight, "line_of_sight"), check_rate(spec.shadowing, "shadowing"),
        check_rate(spec.peak, "peak"), check_rate(spec.blocked, "blocked"),
        check_time(spec.shadow_time, "shadow_time"), check_time(spec.clear_time, "clear_time"),
        check_time(spec.blocked_time, "blocked_time"), check_ramp(spec.fall_time, "fall_time"),
        check_ramp(spec.rise_time, "rise_time"), check_time(spec.step, "step")}) {
    if (!in_range) return in_range;
  }
  if (spec.blocked <= spec.line_of_sight && spec.line_of_sight <= spec.peak) return {};
  return error_in(
      "",
      fmt::format("line_of_sight: {} is not within blocked and peak, {} and {}",
                  exact_text(spec.line_of_sight), exact_text(spec.blocked), exact_text(spec.peak)),
      "let blocked be the lowest and peak the highest of the three");
}

Status draw(const MmwaveSpec& spec, RandomStream& random, Duration length, LinkTrace& trace) {
  if (Status few = check_num_steps(spec.step, "step", length); !few) return few;
  const Duration between = spec.clear_time + spec.blocked_time;
  if (Status few = check_num_steps(between, "clear_time", length); !few) return few;
  const auto blocked = static_cast<double>(spec.blocked.bits_per_sec());
  const auto middle = static_cast<double>(spec.line_of_sight.bits_per_sec());
  const auto deviation = static_cast<double>(spec.shadowing.bits_per_sec());
  const auto peak = static_cast<double>(spec.peak.bits_per_sec());
  GaussianWalk walk(spec.step, spec.shadow_time, random);
  Turns turns({{DwellLaw::kExponential, spec.clear_time},
               {DwellLaw::kFixed, spec.fall_time},
               {DwellLaw::kExponential, spec.blocked_time},
               {DwellLaw::kFixed, spec.rise_time}},
              random);
  StepList steps;
  while (steps.length() < length) {
    const double open_rate = std::clamp(middle + deviation * walk.value(), blocked, peak);
    const double rate = blocked + (open_rate - blocked) * openness(turns, spec);
    steps.append(std::min(spec.step, length - steps.length()),
                 to_rate(rate, spec.blocked, spec.peak));
    walk.advance(random);
    turns.advance(spec.step, random);
  }
  std::move(steps).move_to(trace);
  return {};
}

std::string parameter_text(const MmwaveSpec& spec) {
  return fmt::format(
      "line_of_sight={} shadowing={} peak={} blocked={} shadow_time={} clear_time={} "
      "blocked_time={} fall_time={} rise_time={} step={}",
      exact_text(spec.line_of_sight), exact_text(spec.shadowing), exact_text(spec.peak),
      exact_text(spec.blocked), exact_text(spec.shadow_time), exact_text(spec.clear_time),
      exact_text(spec.blocked_time), exact_text(spec.fall_time), exact_text(spec.rise_time),
      exact_text(spec.step));
}

Result<GeneratorSpec> parse_mmwave(const Parameters& parameters) {
  MmwaveSpec spec;
  for (const Status& read :
       {parameters.read("line_of_sight", spec.line_of_sight),
        parameters.read("shadowing", spec.shadowing), parameters.read("peak", spec.peak),
        parameters.read("blocked", spec.blocked), parameters.read("shadow_time", spec.shadow_time),
        parameters.read("clear_time", spec.clear_time),
        parameters.read("blocked_time", spec.blocked_time),
        parameters.read("fall_time", spec.fall_time), parameters.read("rise_time", spec.rise_time),
        parameters.read("step", spec.step)}) {
    if (!read) return read.error();
  }
  return GeneratorSpec{spec};
}

}  // namespace sluice
