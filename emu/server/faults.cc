#include "emu/server/faults.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "base/names.h"
#include "base/parse.h"

namespace sluice {
namespace {

constexpr std::array<std::pair<std::string_view, FaultKind>, 6> kKinds = {{
    {"stall", FaultKind::kStall},
    {"corrupt-disk", FaultKind::kCorruptDisk},
    {"corrupt-frame", FaultKind::kCorruptFrame},
    {"reset", FaultKind::kReset},
    {"half-open", FaultKind::kHalfOpen},
    {"refuse", FaultKind::kRefuse},
}};
constexpr const char* kOption = "--fault";

Error wrong(const std::string& what, const std::string& fix) {
  return error_in(kOption, what, fix);
}

Result<FaultKind> kind_of(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& [text, kind] : kKinds) {
    if (text == name) return kind;
    known.emplace_back(text);
  }
  return wrong(fmt::format("there is no fault `{}`", name), suggest_name(name, known));
}

Result<std::int64_t> count_of(std::string_view value, std::string_view key, std::int64_t low) {
  const auto number = parse_integer(value, key);
  if (!number) return wrong(number.error().what, number.error().fix);
  if (*number < low)
    return wrong(fmt::format("{} = {} is below {}", key, *number, low), "give a larger number");
  return number;
}

Status read_value(ServerFault& fault, std::string_view key, std::string_view value) {
  if (key == "after") {
    const auto size = parse_size(value, key);
    if (!size) return wrong(size.error().what, size.error().fix);
    fault.after = *size;
    return {};
  }
  if (key == "delay") {
    const auto time = parse_duration(value, key);
    if (!time) return wrong(time.error().what, time.error().fix);
    fault.delay = *time;
    return {};
  }
  std::int64_t* const number = key == "request" ? &fault.request
                               : key == "times" ? &fault.times
                               : key == "every" ? &fault.every
                                                : nullptr;
  if (number == nullptr) {
    const std::vector<std::string> known = {"request", "times", "every", "after", "delay"};
    return wrong(fmt::format("a fault has no `{}`", key), suggest_name(key, known));
  }
  const auto read = count_of(value, key, key == "every" ? 1 : 0);
  if (!read) return read.error();
  *number = *read;
  return {};
}

bool is_hit(const ServerFault& fault, std::int64_t request) {
  const std::int64_t behind = request - fault.request;
  if (behind < 0 || behind % fault.every != 0) return false;
  return fault.times == 0 || behind / fault.every < fault.times;
}

}  // namespace

Result<ServerFault> parse_fault(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto kind = kind_of(text.substr(0, colon));
  if (!kind) return kind.error();
  ServerFault fault{.kind = *kind};
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      return wrong(fmt::format("`{}` is no key=value", part), "write reset:request=3,after=100kB");
    if (const Status read = read_value(fault, part.substr(0, equals), part.substr(equals + 1));
        !read)
      return read.error();
  }
  return fault;
}

void FaultSchedule::set(FaultPlan plan) {
  const std::scoped_lock lock(mutex_);
  plan_ = std::move(plan);
  requests_ = 0;
}

std::optional<ServerFault> FaultSchedule::next_request() {
  const std::scoped_lock lock(mutex_);
  const std::int64_t request = requests_++;
  for (const ServerFault& fault : plan_) {
    if (!is_hit(fault, request)) continue;
    ++hits_;
    return fault;
  }
  return std::nullopt;
}

std::int64_t FaultSchedule::hits() const {
  const std::scoped_lock lock(mutex_);
  return hits_;
}

}  // namespace sluice
