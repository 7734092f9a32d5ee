// Two rates in turn, each for a random or a fixed time: outages that come at random, other people's
// bursts.
// Surprise: unlike `square` it starts in the middle of a stay, by its stationary law.
#include <fmt/format.h>

#include <algorithm>

#include "traces/generators/dwell.h"
#include "traces/generators/generator.h"

namespace sluice {

Status check(const OnOffSpec& spec) {
  if (Status in_range = check_rate(spec.on, "on"); !in_range) return in_range;
  if (Status in_range = check_time(spec.on_time, "on_time"); !in_range) return in_range;
  if (Status in_range = check_rate(spec.off, "off"); !in_range) return in_range;
  return check_time(spec.off_time, "off_time");
}

Status draw(const OnOffSpec& spec, RandomStream& random, Duration length, LinkTrace& trace) {
  const char* shorter = spec.on_time <= spec.off_time ? "on_time" : "off_time";
  if (Status few = check_num_steps((spec.on_time + spec.off_time) / 2, shorter, length); !few)
    return few;
  Turns turns({{spec.on_law, spec.on_time}, {spec.off_law, spec.off_time}}, random);
  StepList steps;
  while (steps.length() < length) {
    const Duration time = std::min(turns.left(), length - steps.length());
    steps.append(time, turns.state() == 0 ? spec.on : spec.off);
    turns.advance(time, random);
  }
  std::move(steps).move_to(trace);
  return {};
}

std::string parameter_text(const OnOffSpec& spec) {
  return fmt::format("on={} on_time={} on_law={} off={} off_time={} off_law={}",
                     exact_text(spec.on), exact_text(spec.on_time),
                     kDwellLaws[static_cast<std::size_t>(spec.on_law)], exact_text(spec.off),
                     exact_text(spec.off_time), kDwellLaws[static_cast<std::size_t>(spec.off_law)]);
}

Result<GeneratorSpec> parse_on_off(const Parameters& parameters) {
  OnOffSpec spec;
  for (const Status& read :
       {parameters.read("on", spec.on), parameters.read("on_time", spec.on_time),
        parameters.read("on_law", kDwellLaws, spec.on_law), parameters.read("off", spec.off),
        parameters.read("off_time", spec.off_time),
        parameters.read("off_law", kDwellLaws, spec.off_law)}) {
    if (!read) return read.error();
  }
  return GeneratorSpec{spec};
}

}  // namespace sluice
