#include "traces/generators/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/names.h"
#include "base/parse.h"

namespace sluice {
namespace {

struct ExactUnit {
  std::int64_t factor;
  std::string_view name;
};

std::string in_largest_unit(std::int64_t value, std::span<const ExactUnit> units) {
  for (const ExactUnit& unit : units) {
    if (value >= unit.factor && value % unit.factor == 0)
      return fmt::format("{}{}", value / unit.factor, unit.name);
  }
  return fmt::format("{}{}", value, units.back().name);
}

template <typename T>
Status store(const Result<T>& value, T& into) {
  if (!value) return value.error();
  into = *value;
  return {};
}

}  // namespace

Result<Parameters> Parameters::check(const GeneratorInfo& generator,
                                     std::span<const ParameterText> given) {
  std::vector<std::string> known;
  for (const ParameterInfo& info : generator.parameters) known.emplace_back(info.name);
  Parameters parameters;
  for (const ParameterText& parameter : given) {
    if (std::find(known.begin(), known.end(), parameter.name) == known.end()) {
      return error_in("", fmt::format("{}: unknown parameter `{}`", generator.id, parameter.name),
                      suggest_name(parameter.name, known));
    }
    if (parameters.has(parameter.name)) {
      return error_in("", fmt::format("{}: `{}` is given twice", generator.id, parameter.name),
                      "leave one out");
    }
    parameters.given_.push_back(parameter);
  }
  for (const ParameterInfo& info : generator.parameters) {
    if (!info.required || parameters.has(info.name)) continue;
    return error_in("", fmt::format("{}: `{}` is missing", generator.id, info.name),
                    fmt::format("give {}, as in `{}={}`", info.sentence, info.name, info.example));
  }
  return parameters;
}

const std::string* Parameters::find(std::string_view name) const {
  for (const ParameterText& parameter : given_) {
    if (parameter.name == name) return &parameter.value;
  }
  return nullptr;
}

std::string_view Parameters::text(std::string_view name) const {
  const std::string* value = find(name);
  return value == nullptr ? std::string_view{} : std::string_view{*value};
}

Status Parameters::read(std::string_view name, DataRate& into) const {
  return has(name) ? store(parse_rate(text(name), name), into) : Status{};
}
Status Parameters::read(std::string_view name, Duration& into) const {
  return has(name) ? store(parse_duration(text(name), name), into) : Status{};
}
Status Parameters::read(std::string_view name, std::int64_t& into) const {
  return has(name) ? store(parse_integer(text(name), name), into) : Status{};
}
Status Parameters::read(std::string_view name, double& into) const {
  return has(name) ? store(parse_number(text(name), name), into) : Status{};
}

Result<std::size_t> Parameters::choice(std::string_view name,
                                       std::span<const std::string_view> known) const {
  const auto found = std::find(known.begin(), known.end(), text(name));
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  const std::vector<std::string> names(known.begin(), known.end());
  return error_in("", fmt::format("{}: unknown `{}`", name, text(name)),
                  suggest_name(text(name), names));
}

std::vector<std::string_view> split_list(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

Result<std::vector<RateAndTime>> parse_rates_and_times(std::string_view text,
                                                       std::string_view field) {
  std::vector<RateAndTime> list;
  for (const std::string_view entry : split_list(text, ',')) {
    const std::string name = fmt::format("{}[{}]", field, list.size());
    const std::vector<std::string_view> halves = split_list(entry, ':');
    if (halves.size() != 2) {
      return error_in("", fmt::format("{}: `{}` is not a rate and a time", name, entry),
                      "write `1Gbit/s:10s`");
    }
    const Result<DataRate> rate = parse_rate(halves[0], name);
    if (!rate) return rate.error();
    const Result<Duration> time = parse_duration(halves[1], name);
    if (!time) return time.error();
    list.push_back({*rate, *time});
  }
  return list;
}

std::string rates_and_times_text(std::span<const RateAndTime> list) {
  std::string out;
  for (const RateAndTime& entry : list) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", exact_text(entry.rate),
                       exact_text(entry.time));
  }
  return out;
}

std::string exact_text(DataRate rate) {
  static constexpr std::array<ExactUnit, 4> kUnits{
      {{1'000'000'000, "Gbit/s"}, {1'000'000, "Mbit/s"}, {1'000, "kbit/s"}, {1, "bit/s"}}};
  return in_largest_unit(rate.bits_per_sec(), kUnits);
}

std::string exact_text(Duration time) {
  static constexpr std::array<ExactUnit, 4> kUnits{
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}}};
  return in_largest_unit(to_ns(time), kUnits);
}

Status check_rate(DataRate rate, std::string_view field) {
  if (rate >= DataRate::zero() && rate <= kMaxLinkRate) return {};
  return error_in("", fmt::format("{}: {} is not a rate of a link", field, exact_text(rate)),
                  fmt::format("use a rate from zero to {}", exact_text(kMaxLinkRate)));
}

Status check_time(Duration time, std::string_view field) {
  if (time > Duration::zero() && time <= kMaxTraceLength) return {};
  return error_in("", fmt::format("{}: {} is out of range", field, exact_text(time)),
                  "use a time above zero and up to ten years");
}

Status check_low_high(DataRate low, DataRate high) {
  if (Status in_range = check_rate(low, "low"); !in_range) return in_range;
  if (Status in_range = check_rate(high, "high"); !in_range) return in_range;
  if (low <= high) return {};
  return error_in("", fmt::format("low: {} is above high, {}", exact_text(low), exact_text(high)),
                  "swap them");
}

Status check_num_steps(Duration step, std::string_view field, Duration length) {
  if (length / step <= kMaxGeneratedSteps) return {};
  return error_in("",
                  fmt::format("{}: more than {} rate changes in {}", field, kMaxGeneratedSteps,
                              exact_text(length)),
                  "use longer times or a shorter trace");
}

}  // namespace sluice
