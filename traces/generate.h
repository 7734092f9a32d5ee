// Link traces from parameters instead of files: same spec, seed, replicate and length, same trace
// everywhere.
// Where in the flow: step 1; scenario files name a generator, the scenario parser fills its spec.
// Surprise: a spec never holds the seed. All policies of a replicate meet the same trace, drawn
// from RandomStream(seed, "link", replicate).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "traces/link_trace.h"

namespace sluice {

// One rate for ever.
struct ConstantSpec {
  DataRate rate;
  bool operator==(const ConstantSpec&) const = default;
};

// A list of rates, each for its time, over and over; or once, the last rate staying.
struct StepSpec {
  struct Part {
    Duration time{};
    DataRate rate;
    bool operator==(const Part&) const = default;
  };
  enum class Then { kRepeat, kHold };
  std::vector<Part> parts;
  Then then = Then::kRepeat;
  bool operator==(const StepSpec&) const = default;
};

// Up and down: `high` for `high_time`, then `low` for `low_time`, over and over.
struct SquareSpec {
  DataRate high;
  Duration high_time{};
  DataRate low;
  Duration low_time{};
  bool operator==(const SquareSpec&) const = default;
};

// A ramp in `steps` equal steps over and over: up from low to high, down again, or (kTriangle) both
// within one period. The mean is that of low and high.
struct SawtoothSpec {
  enum class Shape { kRise, kFall, kTriangle };
  DataRate low, high;
  Duration period{};
  std::int64_t steps = 0;  // per period; even for a triangle
  Shape shape = Shape::kRise;
  bool operator==(const SawtoothSpec&) const = default;
};

// The law of a random time; its mean stands beside it.
enum class DwellLaw { kExponential, kFixed };

// Two rates in turn, each for a random time of its own law; it starts in its stationary law.
struct OnOffSpec {
  DataRate on;
  Duration on_time{};  // mean
  DwellLaw on_law = DwellLaw::kExponential;
  DataRate off;
  Duration off_time{};  // mean
  DwellLaw off_law = DwellLaw::kExponential;
  bool operator==(const OnOffSpec&) const = default;
};

// A semi-Markov chain of states, each a rate and a mean dwell time; it starts in its stationary
// law, so that means hold from the first instant on.
struct MarkovSpec {
  struct State {
    DataRate rate;
    Duration mean_dwell{};
    bool operator==(const State&) const = default;
  };
  using Dwell = DwellLaw;
  std::vector<State> states;  // 2 to 64
  Dwell dwell = Dwell::kExponential;
  // transitions[i][j]: the probability that state i is followed by state j; rows sum to 1, the
  // diagonal is zero, every state can be reached from every other. Empty: all other states are
  // equally likely.
  std::vector<std::vector<double>> transitions;
  bool operator==(const MarkovSpec&) const = default;
};

// An Ornstein-Uhlenbeck process on the logarithm of the rate, sampled every `step`: the rate is
// lognormal with the given mean and coefficient of variation, its logarithm has the correlation
// exp(-t / time_constant). On the rate itself a large variation would pass zero and clipping would
// bias the mean. `floor` and `ceiling` clip what was drawn.
struct OuSpec {
  DataRate mean;
  double coefficient_of_variation = 0;  // before clipping; above 0, up to 10
  Duration time_constant{}, step{};
  DataRate floor, ceiling = kMaxLinkRate;
  bool operator==(const OuSpec&) const = default;
};

// A rate whose distribution is given by its quantiles, joined linearly, and whose normal score (the
// quantile of the same share of time in a standard normal law) is an Ornstein-Uhlenbeck process:
// any published distribution, zero share included, with a correlation in time.
struct QuantilesSpec {
  struct Point {
    double fraction = 0;  // of the time, the rate is at most `rate`
    DataRate rate;
    bool operator==(const Point&) const = default;
  };
  std::vector<Point> points;  // 2 to 64, fractions ascend from 0 to 1, rates do not fall
  Duration time_constant{}, step{};
  bool operator==(const QuantilesSpec&) const = default;
};

// A millimetre-wave link with people in the way. In line of sight the rate is Gaussian, correlated
// as exp(-t / shadow_time) and clipped to blocked..peak: shadowing is Gaussian in dB, and at the
// SNRs of such links rate is linear in dB. A blockage comes after an exponential time, takes the
// rate down to `blocked` in a straight line, lasts an exponential time and lets it rise again.
// The defaults are fitted to published statistics; generators/README.md names them.
struct MmwaveSpec {
  DataRate line_of_sight = DataRate::bits_per_sec(1'190'000'000);  // mean, before clipping
  DataRate shadowing = DataRate::bits_per_sec(630'000'000);        // standard deviation of that
  DataRate peak = DataRate::bits_per_sec(1'800'000'000);
  DataRate blocked = DataRate::bits_per_sec(40'000'000);
  Duration shadow_time = std::chrono::seconds{20};
  Duration clear_time = std::chrono::seconds{10};          // mean
  Duration blocked_time = std::chrono::milliseconds{299};  // mean
  Duration fall_time = std::chrono::milliseconds{100};     // may be zero
  Duration rise_time = std::chrono::milliseconds{100};     // may be zero
  Duration step = std::chrono::milliseconds{10};
  bool operator==(const MmwaveSpec&) const = default;
};

// A rate drawn uniformly from low..high (both included) for each interval, independently.
struct UniformSpec {
  DataRate low, high;
  Duration interval{};
  bool operator==(const UniformSpec&) const = default;
};

// The same for each chunk of a load: chunk-clocked, as CacheGen's traces are.
struct UniformPerChunkSpec {
  DataRate low, high;
  std::int64_t chunks = 0;
  bool operator==(const UniformPerChunkSpec&) const = default;
};

using GeneratorSpec =
    std::variant<ConstantSpec, StepSpec, SquareSpec, SawtoothSpec, OnOffSpec, MarkovSpec, OuSpec,
                 QuantilesSpec, MmwaveSpec, UniformSpec, UniformPerChunkSpec>;

// Refuses parameters out of range, naming the parameter. The errors have no file or line: the
// caller adds them.
[[nodiscard]] Status check_spec(const GeneratorSpec& spec);

// A time-clocked trace covers exactly `length` and then loops (StepSpec::kHold: holds); a
// chunk-clocked one has `chunks` steps and leaves `length` alone. Errors: those of check_spec, a
// length outside (0, kMaxTraceLength], more than ten million rate changes.
[[nodiscard]] Result<LinkTrace> generate(const GeneratorSpec& spec, std::uint64_t seed,
                                         std::uint64_t replicate, Duration length);

// The spec as one line of text that make_spec() reads back: "square high=1Gbit/s high_time=10s
// ...".
[[nodiscard]] std::string describe(const GeneratorSpec& spec);

// What people can write; the same table serves scenario files, `sluice trace synth` and the help.
struct ParameterInfo {
  std::string_view name;
  std::string_view example;  // in the syntax of make_spec(), units included
  std::string_view sentence;
  bool required = true;
};
struct GeneratorInfo {
  std::string_view id;
  std::string_view summary;
  TraceClock clock;
  std::span<const ParameterInfo> parameters;
};
[[nodiscard]] std::span<const GeneratorInfo> generators();

// A generator with parameters fitted to published statistics, under a name of its own that
// make_spec() knows as it knows a generator.
struct LinkPreset {
  std::string_view id;
  std::string_view summary;
  std::string_view generator;   // id of a generator
  std::string_view parameters;  // "name=value name=value"
  std::string_view source;      // what the parameters are fitted to
};
[[nodiscard]] std::span<const LinkPreset> link_presets();

// The trace's id: that of the generator, also when a preset named it.
[[nodiscard]] std::string_view id_of(const GeneratorSpec& spec);

// A parameter as text, from a command line or a scenario file.
struct ParameterText {
  std::string name, value;
};
// A checked spec from text. `id` is a generator or a preset; what is given goes before what the
// preset says. Errors name the generator or parameter and the nearest known one; no
// file or line.
[[nodiscard]] Result<GeneratorSpec> make_spec(std::string_view id,
                                              std::span<const ParameterText> parameters);

}  // namespace sluice
