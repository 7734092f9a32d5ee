// A list of rates, each for its time; repeated, or once with the last rate staying.
#include <fmt/format.h>

#include <array>

#include "traces/generators/generator.h"

namespace sluice {
namespace {

constexpr std::array<std::string_view, 2> kThen{"repeat", "hold"};  // in the order of Then

}  // namespace

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
                     kThen[static_cast<std::size_t>(spec.then)]);
}

Result<GeneratorSpec> parse_step(const Parameters& parameters) {
  const auto list = parse_rates_and_times(parameters.text("parts"), "parts");
  if (!list) return list.error();
  StepSpec spec;
  for (const RateAndTime& entry : *list) spec.parts.push_back({entry.time, entry.rate});
  if (Status read = parameters.read("then", kThen, spec.then); !read) return read.error();
  return GeneratorSpec{spec};
}

}  // namespace sluice
