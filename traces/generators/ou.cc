// A rate that wanders about its mean: an Ornstein-Uhlenbeck process on its logarithm.
// Surprise: the mean and the variation are those before clipping to floor and ceiling.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "traces/generators/gaussian_walk.h"
#include "traces/generators/generator.h"

namespace sluice {
namespace {

constexpr double kMaxVariation = 10;

}  // namespace

Status check(const OuSpec& spec) {
  if (Status in_range = check_rate(spec.mean, "mean"); !in_range) return in_range;
  if (!(spec.coefficient_of_variation > 0 && spec.coefficient_of_variation <= kMaxVariation)) {
    return error_in("", fmt::format("cv: {} is out of range", spec.coefficient_of_variation),
                    fmt::format("use a number above 0 and up to {}", kMaxVariation));
  }
  if (Status in_range = check_time(spec.time_constant, "time_constant"); !in_range) return in_range;
  if (Status in_range = check_time(spec.step, "step"); !in_range) return in_range;
  if (Status in_range = check_rate(spec.floor, "floor"); !in_range) return in_range;
  if (Status in_range = check_rate(spec.ceiling, "ceiling"); !in_range) return in_range;
  if (spec.mean > DataRate::zero() && spec.floor <= spec.mean && spec.mean <= spec.ceiling)
    return {};
  return error_in(
      "",
      fmt::format("mean: {} is not above zero and within floor and ceiling, {} and {}",
                  exact_text(spec.mean), exact_text(spec.floor), exact_text(spec.ceiling)),
      "move them apart");
}

Status draw(const OuSpec& spec, RandomStream& random, Duration length, LinkTrace& trace) {
  if (Status few = check_num_steps(spec.step, "step", length); !few) return few;
  // A lognormal law of mean m and variation c is exp of a normal one of variance ln(1 + c^2).
  const double variance = std::log1p(spec.coefficient_of_variation * spec.coefficient_of_variation);
  const double middle = std::log(static_cast<double>(spec.mean.bits_per_sec())) - variance / 2;
  GaussianWalk walk(spec.step, spec.time_constant, random);
  StepList steps;
  while (steps.length() < length) {
    const double rate = std::exp(middle + std::sqrt(variance) * walk.value());
    steps.append(std::min(spec.step, length - steps.length()),
                 to_rate(rate, spec.floor, spec.ceiling));
    walk.advance(random);
  }
  std::move(steps).move_to(trace);
  return {};
}

std::string parameter_text(const OuSpec& spec) {
  std::string out = fmt::format("mean={} cv={} time_constant={} step={}", exact_text(spec.mean),
                                spec.coefficient_of_variation, exact_text(spec.time_constant),
                                exact_text(spec.step));
  if (spec.floor > DataRate::zero()) out += fmt::format(" floor={}", exact_text(spec.floor));
  if (spec.ceiling < kMaxLinkRate) out += fmt::format(" ceiling={}", exact_text(spec.ceiling));
  return out;
}

Result<GeneratorSpec> parse_ou(const Parameters& parameters) {
  OuSpec spec;
  for (const Status& read :
       {parameters.read("mean", spec.mean), parameters.read("cv", spec.coefficient_of_variation),
        parameters.read("time_constant", spec.time_constant), parameters.read("step", spec.step),
        parameters.read("floor", spec.floor), parameters.read("ceiling", spec.ceiling)}) {
    if (!read) return read.error();
  }
  return GeneratorSpec{spec};
}

}  // namespace sluice
