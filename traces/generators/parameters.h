// Parameters of a generator as text: reading them, writing them, and the checks they share.
// Where in the flow: between make_spec()/describe() and the generators.
// Surprise: what is written here is exact (`1500Mbit/s`, never `1.5e9`), so that a description
// makes the same trace.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "traces/generate.h"

namespace sluice {

// Name and value pairs that are known to fit the generator's table: no unknown name, none twice,
// none required missing.
class Parameters {
 public:
  [[nodiscard]] static Result<Parameters> check(const GeneratorInfo& generator,
                                                std::span<const ParameterText> given);

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  // Each leaves `into` alone when the parameter was left out.
  [[nodiscard]] Status read(std::string_view name, DataRate& into) const;
  [[nodiscard]] Status read(std::string_view name, Duration& into) const;
  [[nodiscard]] Status read(std::string_view name, std::int64_t& into) const;
  [[nodiscard]] Status read(std::string_view name, double& into) const;
  // One of `known`, which stand in the order of the enumerators.
  template <typename Enum>
  [[nodiscard]] Status read(std::string_view name, std::span<const std::string_view> known,
                            Enum& into) const {
    if (!has(name)) return {};
    const Result<std::size_t> index = choice(name, known);
    if (!index) return index.error();
    into = static_cast<Enum>(*index);
    return {};
  }
  // The text; empty when the parameter was left out.
  [[nodiscard]] std::string_view text(std::string_view name) const;

 private:
  [[nodiscard]] const std::string* find(std::string_view name) const;
  [[nodiscard]] Result<std::size_t> choice(std::string_view name,
                                           std::span<const std::string_view> known) const;
  std::vector<ParameterText> given_;
};

// A rate and a time, as in `1Gbit/s:10s`.
struct RateAndTime {
  DataRate rate;
  Duration time{};
};
// `1Gbit/s:10s,100Mbit/s:5s`. Errors name `field` and the entry.
[[nodiscard]] Result<std::vector<RateAndTime>> parse_rates_and_times(std::string_view text,
                                                                     std::string_view field);
[[nodiscard]] std::string rates_and_times_text(std::span<const RateAndTime> list);
[[nodiscard]] std::vector<std::string_view> split_list(std::string_view text, char separator);

// The largest unit that leaves a whole number: "1500Mbit/s", "20ms".
[[nodiscard]] std::string exact_text(DataRate rate);
[[nodiscard]] std::string exact_text(Duration time);

// Zero to kMaxLinkRate; more than zero to kMaxTraceLength. Errors name `field`.
[[nodiscard]] Status check_rate(DataRate rate, std::string_view field);
[[nodiscard]] Status check_time(Duration time, std::string_view field);
// low <= high, both rates in range.
[[nodiscard]] Status check_low_high(DataRate low, DataRate high);

// More rate changes than this in one trace is an error that names the parameter.
inline constexpr std::int64_t kMaxGeneratedSteps = 10'000'000;
// Refuses a `step` that makes more of them in `length`.
[[nodiscard]] Status check_num_steps(Duration step, std::string_view field, Duration length);

}  // namespace sluice
