// Up and down: two rates, each for its time, over and over.
#include <fmt/format.h>

#include "traces/generators/generator.h"

namespace sluice {

Status check(const SquareSpec& spec) {
  if (Status in_range = check_low_high(spec.low, spec.high); !in_range) return in_range;
  if (Status in_range = check_time(spec.high_time, "high_time"); !in_range) return in_range;
  return check_time(spec.low_time, "low_time");
}

Status draw(const SquareSpec& spec, RandomStream& random, Duration length, LinkTrace& trace) {
  const char* shorter = spec.high_time <= spec.low_time ? "high_time" : "low_time";
  const Duration mean_step = (spec.high_time + spec.low_time) / 2;
  if (Status few = check_num_steps(mean_step, shorter, length); !few) return few;
  return draw(
      StepSpec{{{spec.high_time, spec.high}, {spec.low_time, spec.low}}, StepSpec::Then::kRepeat},
      random, length, trace);
}

std::string parameter_text(const SquareSpec& spec) {
  return fmt::format("high={} high_time={} low={} low_time={}", exact_text(spec.high),
                     exact_text(spec.high_time), exact_text(spec.low), exact_text(spec.low_time));
}

Result<GeneratorSpec> parse_square(const Parameters& parameters) {
  SquareSpec spec;
  for (const Status& read :
       {parameters.read("high", spec.high), parameters.read("high_time", spec.high_time),
        parameters.read("low", spec.low), parameters.read("low_time", spec.low_time)}) {
    if (!read) return read.error();
  }
  return GeneratorSpec{spec};
}

}  // namespace sluice
