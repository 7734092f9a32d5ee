#include <fmt/format.h>

#include <array>

#include "base/assert.h"
#include "base/names.h"
#include "base/sha256.h"
#include "traces/generators/generator.h"

namespace sluice {
namespace {

constexpr std::array kConstant{ParameterInfo{"rate", "1Gbit/s", "the rate"}};
constexpr std::array kStep{
    ParameterInfo{"parts", "1Gbit/s:10s,100Mbit/s:5s",
                  "the rates in order, each with the time it holds"},
    ParameterInfo{"then", "hold", "what follows the last part: repeat (the default) or hold",
                  false},
};
constexpr std::array kSquare{
    ParameterInfo{"high", "1Gbit/s", "the rate that comes first"},
    ParameterInfo{"high_time", "10s", "how long it holds"},
    ParameterInfo{"low", "100Mbit/s", "the rate that follows, not above high"},
    ParameterInfo{"low_time", "5s", "how long that one holds"},
};
constexpr std::array kMarkov{
    ParameterInfo{"states", "3Gbit/s:2s,100Mbit/s:500ms",
                  "2 to 64 states, each a rate and a mean dwell time"},
    ParameterInfo{"dwell", "fixed",
                  "the law of the dwell times: exponential (the default) or fixed", false},
    ParameterInfo{"transitions", "0,1/1,0",
                  "row i holds the probabilities of what follows state i; left out, all others are "
                  "equally likely",
                  false},
};
constexpr std::array kUniform{
    ParameterInfo{"low", "100Mbit/s", "the lowest rate"},
    ParameterInfo{"high", "3Gbit/s", "the highest rate"},
    ParameterInfo{"interval", "1s", "the time after which the rate is drawn anew"},
};
constexpr std::array kUniformPerChunk{
    ParameterInfo{"low", "100Mbit/s", "the lowest rate"},
    ParameterInfo{"high", "10Gbit/s", "the highest rate"},
    ParameterInfo{"chunks", "10", "for how many chunks of a load rates are drawn"},
};

constexpr std::array kGenerators{
    GeneratorInfo{"constant", "one rate for ever", TraceClock::kTime, kConstant},
    GeneratorInfo{"step", "a list of rates, each for its time", TraceClock::kTime, kStep},
    GeneratorInfo{"square", "up and down between two rates", TraceClock::kTime, kSquare},
    GeneratorInfo{"markov", "states with a rate and random dwell times", TraceClock::kTime,
                  kMarkov},
    GeneratorInfo{"uniform", "a uniform draw per interval", TraceClock::kTime, kUniform},
    GeneratorInfo{"uniform-per-chunk", "a uniform draw per chunk of a load", TraceClock::kChunk,
                  kUniformPerChunk},
};
// In the order of kGenerators, which is that of GeneratorSpec.
constexpr std::array<Result<GeneratorSpec> (*)(const Parameters&),
                     std::variant_size_v<GeneratorSpec>>
    kParsers{parse_constant, parse_step,    parse_square,
             parse_markov,   parse_uniform, parse_uniform_per_chunk};
static_assert(kGenerators.size() == kParsers.size());

}  // namespace

std::span<const GeneratorInfo> generators() {
  return kGenerators;
}

std::string_view id_of(const GeneratorSpec& spec) {
  return kGenerators[spec.index()].id;
}

Status check_spec(const GeneratorSpec& spec) {
  return std::visit([](const auto& s) { return check(s); }, spec);
}

std::string describe(const GeneratorSpec& spec) {
  return fmt::format("{} {}", id_of(spec),
                     std::visit([](const auto& s) { return parameter_text(s); }, spec));
}

Result<LinkTrace> generate(const GeneratorSpec& spec, std::uint64_t seed, std::uint64_t replicate,
                           Duration length) {
  if (Status sound = check_spec(spec); !sound) return sound.error();
  if (kGenerators[spec.index()].clock == TraceClock::kTime) {
    if (Status sound = check_time(length, "length"); !sound) return sound.error();
  } else {
    length = Duration::zero();
  }
  LinkTrace trace;
  RandomStream random(seed, "link", replicate);
  Status drawn = std::visit([&](const auto& s) { return draw(s, random, length, trace); }, spec);
  if (!drawn) return drawn.error();
  trace.name = describe(spec);
  trace.reader = id_of(spec);
  trace.unit = "bit/s";
  trace.num_rows = static_cast<std::int64_t>(trace.steps.size());
  trace.sha256 = sha256_hex(fmt::format("{} seed={} replicate={} length={}", trace.name, seed,
                                        replicate, exact_text(length)));
  SLUICE_ASSERT(check_trace(trace).ok(), "a generator makes sound traces");
  return trace;
}

Result<GeneratorSpec> make_spec(std::string_view id, std::span<const ParameterText> parameters) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < kGenerators.size(); ++i) {
    known.emplace_back(kGenerators[i].id);
    if (kGenerators[i].id != id) continue;
    const Result<Parameters> checked = Parameters::check(kGenerators[i], parameters);
    if (!checked) return checked.error();
    Result<GeneratorSpec> spec = kParsers[i](*checked);
    if (!spec) return spec.error();
    if (Status sound = check_spec(*spec); !sound) return sound.error();
    return spec;
  }
  return error_in("", fmt::format("unknown generator `{}`", id), suggest_name(id, known));
}

}  // namespace sluice
