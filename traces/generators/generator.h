// What each generator brings: a check, a draw, a text form and a parser, as overloads for its spec.
// Where in the flow: below traces/generate.h; one .cc per generator, one row each in registry.cc.
#pragma once

#include <string>

#include "base/random.h"
#include "base/result.h"
#include "traces/generate.h"
#include "traces/generators/parameters.h"
#include "traces/step_list.h"

namespace sluice {

// check() refuses parameters out of range. draw() needs a checked spec and a checked length, fills
// steps, length, clock and end. parameter_text() is "name=value name=value", read back by the
// parser.
[[nodiscard]] Status check(const ConstantSpec& spec);
[[nodiscard]] Status draw(const ConstantSpec& spec, RandomStream& random, Duration length,
                          LinkTrace& trace);
[[nodiscard]] std::string parameter_text(const ConstantSpec& spec);
[[nodiscard]] Result<GeneratorSpec> parse_constant(const Parameters& parameters);

[[nodiscard]] Status check(const StepSpec& spec);
[[nodiscard]] Status draw(const StepSpec& spec, RandomStream& random, Duration length,
                          LinkTrace& trace);
[[nodiscard]] std::string parameter_text(const StepSpec& spec);
[[nodiscard]] Result<GeneratorSpec> parse_step(const Parameters& parameters);

[[nodiscard]] Status check(const SquareSpec& spec);
[[nodiscard]] Status draw(const SquareSpec& spec, RandomStream& random, Duration length,
                          LinkTrace& trace);
[[nodiscard]] std::string parameter_text(const SquareSpec& spec);
[[nodiscard]] Result<GeneratorSpec> parse_square(const Parameters& parameters);

[[nodiscard]] Status check(const SawtoothSpec& spec);
[[nodiscard]] Status draw(const SawtoothSpec& spec, RandomStream& random, Duration length,
                          LinkTrace& trace);
[[nodiscard]] std::string parameter_text(const SawtoothSpec& spec);
[[nodiscard]] Result<GeneratorSpec> parse_sawtooth(const Parameters& parameters);

[[nodiscard]] Status check(const OnOffSpec& spec);
[[nodiscard]] Status draw(const OnOffSpec& spec, RandomStream& random, Duration length,
                          LinkTrace& trace);
[[nodiscard]] std::string parameter_text(const OnOffSpec& spec);
[[nodiscard]] Result<GeneratorSpec> parse_on_off(const Parameters& parameters);

[[nodiscard]] Status check(const MarkovSpec& spec);
[[nodiscard]] Status draw(const MarkovSpec& spec, RandomStream& random, Duration length,
                          LinkTrace& trace);
[[nodiscard]] std::string parameter_text(const MarkovSpec& spec);
[[nodiscard]] Result<GeneratorSpec> parse_markov(const Parameters& parameters);

[[nodiscard]] Status check(const OuSpec& spec);
[[nodiscard]] Status draw(const OuSpec& spec, RandomStream& random, Duration length,
                          LinkTrace& trace);
[[nodiscard]] std::string parameter_text(const OuSpec& spec);
[[nodiscard]] Result<GeneratorSpec> parse_ou(const Parameters& parameters);

[[nodiscard]] Status check(const QuantilesSpec& spec);
[[nodiscard]] Status draw(const QuantilesSpec& spec, RandomStream& random, Duration length,
                          LinkTrace& trace);
[[nodiscard]] std::string parameter_text(const QuantilesSpec& spec);
[[nodiscard]] Result<GeneratorSpec> parse_quantiles(const Parameters& parameters);

[[nodiscard]] Status check(const MmwaveSpec& spec);
[[nodiscard]] Status draw(const MmwaveSpec& spec, RandomStream& random, Duration length,
                          LinkTrace& trace);
[[nodiscard]] std::string parameter_text(const MmwaveSpec& spec);
[[nodiscard]] Result<GeneratorSpec> parse_mmwave(const Parameters& parameters);

[[nodiscard]] Status check(const UniformSpec& spec);
[[nodiscard]] Status draw(const UniformSpec& spec, RandomStream& random, Duration length,
                          LinkTrace& trace);
[[nodiscard]] std::string parameter_text(const UniformSpec& spec);
[[nodiscard]] Result<GeneratorSpec> parse_uniform(const Parameters& parameters);

[[nodiscard]] Status check(const UniformPerChunkSpec& spec);
[[nodiscard]] Status draw(const UniformPerChunkSpec& spec, RandomStream& random, Duration length,
                          LinkTrace& trace);
[[nodiscard]] std::string parameter_text(const UniformPerChunkSpec& spec);
[[nodiscard]] Result<GeneratorSpec> parse_uniform_per_chunk(const Parameters& parameters);

}  // namespace sluice
