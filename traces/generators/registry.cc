#include <fmt/format.h>

#include <array>

#include "base/assert.h"
#include "base/names.h"
#include "base/sha256.h"
#include "traces/generators/generator.h"
#include "traces/generators/presets.h"

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
constexpr std::array kSawtooth{
    ParameterInfo{"low", "100Mbit/s", "the lowest rate"},
    ParameterInfo{"high", "1Gbit/s", "the highest rate"},
    ParameterInfo{"period", "20s", "the time after which it begins again"},
    ParameterInfo{"steps", "40", "in how many equal steps a period is cut"},
    ParameterInfo{"shape", "triangle", "rise (the default), fall, or triangle: up and down", false},
};
constexpr std::array kOnOff{
    ParameterInfo{"on", "1Gbit/s", "the rate while on"},
    ParameterInfo{"on_time", "30s", "the mean time it stays on"},
    ParameterInfo{"on_law", "exponential",
                  "the law of that time: exponential (the default) or fixed", false},
    ParameterInfo{"off", "0bit/s", "the rate while off; left out, an outage", false},
    ParameterInfo{"off_time", "1s", "the mean time it stays off"},
    ParameterInfo{"off_law", "fixed", "the law of that time: exponential (the default) or fixed",
                  false},
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
constexpr std::array kOu{
    ParameterInfo{"mean", "1Gbit/s", "the mean rate"},
    ParameterInfo{"cv", "0.5", "the coefficient of variation: standard deviation over mean"},
    ParameterInfo{"time_constant", "5s", "the time in which its correlation falls to 1/e"},
    ParameterInfo{"step", "100ms", "the time for which a rate holds"},
    ParameterInfo{"floor", "10Mbit/s", "lower rates become this one; zero when left out", false},
    ParameterInfo{"ceiling", "10Gbit/s", "higher rates become this one", false},
};
constexpr std::array kQuantiles{
    ParameterInfo{"points", "0:0bit/s,0.03:0bit/s,0.5:400Mbit/s,1:2Gbit/s",
                  "shares of the time from 0 to 1, each with the rate that is not passed in it; a "
                  "line joins them"},
    ParameterInfo{"time_constant", "10s", "the time in which its correlation falls to 1/e"},
    ParameterInfo{"step", "1s", "the time for which a rate holds"},
};
constexpr std::array kMmwave{
    ParameterInfo{"line_of_sight", "1Gbit/s", "the mean rate in line of sight, before clipping",
                  false},
    ParameterInfo{"shadowing", "300Mbit/s", "the standard deviation of that rate", false},
    ParameterInfo{"peak", "2Gbit/s", "the highest rate", false},
    ParameterInfo{"blocked", "20Mbit/s", "the rate when somebody stands in the way", false},
    ParameterInfo{"shadow_time", "8s", "the time in which shadowing's correlation falls to 1/e",
                  false},
    ParameterInfo{"clear_time", "5s", "the mean time from one blockage to the next", false},
    ParameterInfo{"blocked_time", "500ms", "the mean time of a blockage", false},
    ParameterInfo{"fall_time", "100ms", "how long the rate takes to fall before it", false},
    ParameterInfo{"rise_time", "100ms", "how long it takes to rise after it", false},
    ParameterInfo{"step", "10ms", "the time for which a rate holds", false},
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
    GeneratorInfo{"sawtooth", "a ramp in steps, over and over", TraceClock::kTime, kSawtooth},
    GeneratorInfo{"on-off", "two rates in turn, each for a random or a fixed time",
                  TraceClock::kTime, kOnOff},
    GeneratorInfo{"markov", "states with a rate and random dwell times", TraceClock::kTime,
                  kMarkov},
    GeneratorInfo{"ou", "a lognormal rate that wanders about its mean (Ornstein-Uhlenbeck)",
                  TraceClock::kTime, kOu},
    GeneratorInfo{"quantiles", "a given distribution of rates, correlated in time",
                  TraceClock::kTime, kQuantiles},
    GeneratorInfo{"mmwave", "line of sight with shadowing, and people in the way",
                  TraceClock::kTime, kMmwave},
    GeneratorInfo{"uniform", "a uniform draw per interval", TraceClock::kTime, kUniform},
    GeneratorInfo{"uniform-per-chunk", "a uniform draw per chunk of a load", TraceClock::kChunk,
                  kUniformPerChunk},
};
// In the order of kGenerators, which is that of GeneratorSpec.
constexpr std::array<Result<GeneratorSpec> (*)(const Parameters&),
                     std::variant_size_v<GeneratorSpec>>
    kParsers{parse_constant,         parse_step, parse_square,    parse_sawtooth, parse_on_off,
             parse_markov,           parse_ou,   parse_quantiles, parse_mmwave,   parse_uniform,
             parse_uniform_per_chunk};
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
  for (const LinkPreset& preset : link_presets()) {
    if (preset.id == id) return make_spec(preset.generator, with_preset(preset, parameters));
  }
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
  for (const LinkPreset& preset : link_presets()) known.emplace_back(preset.id);
  return error_in("", fmt::format("unknown generator `{}`", id), suggest_name(id, known));
}

}  // namespace sluice
