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

// A semi-Markov chain of states, each a rate and a mean dwell time; it starts in its stationary
// law, so that means hold from the first instant on.
struct MarkovSpec {
  struct State {
    DataRate rate;
    Duration mean_dwell{};
    bool operator==(const State&) const = default;
  };
  enum class Dwell { kExponential, kFixed };
  std::vector<State> states;  // 2 to 64
  Dwell dwell = Dwell::kExponential;
  // transitions[i][j]: the probability that state i is followed by state j; rows sum to 1, the
  // diagonal is zero, every state can be reached from every other. Empty: all other states are
  // equally likely.
  std::vector<std::vector<double>> transitions;
  bool operator==(const MarkovSpec&) const = default;
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
    std::variant<ConstantSpec, StepSpec, SquareSpec, MarkovSpec, UniformSpec, UniformPerChunkSpec>;

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
[[nodiscard]] std::string_view id_of(const GeneratorSpec& spec);

// A parameter as text, from a command line or a scenario file.
struct ParameterText {
  std::string name, value;
};
// A checked spec from text. Errors name the generator or parameter and the nearest known one; no
// file or line.
[[nodiscard]] Result<GeneratorSpec> make_spec(std::string_view id,
                                              std::span<const ParameterText> parameters);

}  // namespace sluice
