// A list of rates, each for its time; repeated, or once with the last rate staying.
#include <fmt/format.h>

#include <array>

#include "base/names.h"
#include "traces/generators/generator.h"

namespace sluice {

Status check(const StepSpec& spec) {
  if (spec.parts.empty())
    return error_in("", "parts: the list is empty", "give at least one rate and time");
  Duration period{};
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    const std::string field = fmt::format("parts[{}]", i);
    if (Status in_range = check_rate(spec.parts[i].rate, field); !in_range) return in_range;
    if (Status in_range = check_time(spec.parts[i].time, field); !in_range) return in_range;
    period += spec.parts[i].time;
    if (Status in_range = check_time(period, "parts"); !in_range) return in_range;
  }
  return {};
}

Status draw(const StepSpec& spec, RandomStream& /*random*/, Duration length, LinkTrace& trace) {
  Duration period{};
  for (const StepSpec::Part& part : spec.parts) period += part.time;
  const auto num_parts = static_cast<std::int64_t>(spec.parts.size());
  if (spec.then == StepSpec::Then::kRepeat && length / period > kMaxGeneratedSteps / num_parts) {
    return error_in("",
                    fmt::format("parts: more than {} rate changes in {}", kMaxGeneratedSteps,
                                exact_text(length)),
                    "use longer times or a shorter trace");
  }
  StepList steps;
  while (steps.length() < length) {
    for (const StepSpec::Part& part : spec.parts) {
      if (steps.length() == length) break;
      steps.append(std::min(part.time, length - steps.length()), part.rate);
    }
    if (spec.then == StepSpec::Then::kHold && steps.length() < length) {
      steps.append(length - steps.length(), spec.parts.back().rate);
    }
  }
  std::move(steps).move_to(trace);
  if (spec.then == StepSpec::Then::kHold) trace.end = TraceEnd::kHold;
  return {};
}

std::string parameter_text(const StepSpec& spec) {
  std::vector<RateAndTime> list;
  for (const StepSpec::Part& part : spec.parts) list.push_back({part.rate, part.time});
  return fmt::format("parts={} then={}", rates_and_times_text(list),
                     spec.then == StepSpec::Then::kHold ? "hold" : "repeat");
}

Result<GeneratorSpec> parse_step(const Parameters& parameters) {
  const auto list = parse_rates_and_times(parameters.text("parts"), "parts");
  if (!list) return list.error();
  StepSpec spec;
  for (const RateAndTime& entry : *list) spec.parts.push_back({entry.time, entry.rate});
  const std::string_view then = parameters.has("then") ? parameters.text("then") : "repeat";
  if (then == "hold") {
    spec.then = StepSpec::Then::kHold;
  } else if (then != "repeat") {
    static const std::array<std::string, 2> kKnown{"repeat", "hold"};
    return error_in("", fmt::format("then: unknown `{}`", then), suggest_name(then, kKnown));
  }
  return GeneratorSpec{spec};
}

}  // namespace sluice
