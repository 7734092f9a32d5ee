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
  [[nodiscard]] Result<DataRate> rate(std::string_view name) const;
  [[nodiscard]] Result<Duration> duration(std::string_view name) const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view name) const;
  // The text; empty when the parameter was left out.
  [[nodiscard]] std::string_view text(std::string_view name) const;

 private:
  [[nodiscard]] const std::string* find(std::string_view name) const;
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

}  // namespace sluice
