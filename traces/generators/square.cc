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
  const Duration shorter = std::min(spec.high_time, spec.low_time);
  if (length / (spec.high_time + spec.low_time) > kMaxGeneratedSteps / 2) {
    const char* field = shorter == spec.high_time ? "high_time" : "low_time";
    return error_in("",
                    fmt::format("{}: more than {} rate changes in {}", field, kMaxGeneratedSteps,
                                exact_text(length)),
                    "use longer times or a shorter trace");
  }
  return draw(
      StepSpec{{{spec.high_time, spec.high}, {spec.low_time, spec.low}}, StepSpec::Then::kRepeat},
      random, length, trace);
}

std::string parameter_text(const SquareSpec& spec) {
  return fmt::format("high={} high_time={} low={} low_time={}", exact_text(spec.high),
                     exact_text(spec.high_time), exact_text(spec.low), exact_text(spec.low_time));
}

Result<GeneratorSpec> parse_square(const Parameters& parameters) {
  const Result<DataRate> high = parameters.rate("high");
  if (!high) return high.error();
  const Result<Duration> high_time = parameters.duration("high_time");
  if (!high_time) return high_time.error();
  const Result<DataRate> low = parameters.rate("low");
  if (!low) return low.error();
  const Result<Duration> low_time = parameters.duration("low_time");
  if (!low_time) return low_time.error();
  return GeneratorSpec{SquareSpec{*high, *high_time, *low, *low_time}};
}

}  // namespace sluice
