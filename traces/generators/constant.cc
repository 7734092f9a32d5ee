// One rate for ever: the link that answers can be checked by head.
#include <fmt/format.h>

#include "traces/generators/generator.h"

namespace sluice {

Status check(const ConstantSpec& spec) {
  return check_rate(spec.rate, "rate");
}

Status draw(const ConstantSpec& spec, RandomStream& /*random*/, Duration length, LinkTrace& trace) {
  StepList steps;
  steps.append(length, spec.rate);
  std::move(steps).move_to(trace);
  return {};
}

std::string parameter_text(const ConstantSpec& spec) {
  return fmt::format("rate={}", exact_text(spec.rate));
}

Result<GeneratorSpec> parse_constant(const Parameters& parameters) {
  ConstantSpec spec;
  if (Status read = parameters.read("rate", spec.rate); !read) return read.error();
  return GeneratorSpec{spec};
}

}  // namespace sluice
