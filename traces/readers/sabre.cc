// Sabre's traces (Spiteri et al., MMSys 2018): a JSON list of periods {duration_ms, bandwidth_kbps,
// latency_ms}.
// Surprise: Sabre waits latency_ms once between a request and its first byte, so it is a round
// trip: our one-way delay is half of it.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "traces/readers/json_bytes.h"
#include "traces/readers/numbers.h"
#include "traces/readers/reader.h"
#include "traces/step_list.h"

namespace sluice {
namespace {

constexpr std::string_view kFix =
    R"(write [{"duration_ms": 1000, "bandwidth_kbps": 4500, "latency_ms": 20}, ...])";
constexpr std::array<std::string_view, 3> kKeys{"duration_ms", "bandwidth_kbps", "latency_ms"};
enum Key : std::size_t { kDuration, kBandwidth, kLatency };

// Takes the numbers as they are written. Each callback refuses what is out of place, so nesting
// never grows and a fault stops at its line.
class PeriodHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::optional<Error> fault;  // without a place

  [[nodiscard]] bool complete() const { return state_ == State::kDone; }
  void move_to(LinkTrace& trace) && {
    trace.num_rows = num_periods_ - num_empty_;
    trace.skip(num_empty_, "the period lasts 0 ms");
    std::move(list_).move_to(trace);
    if (!has_latency_) trace.delay.reset();
  }

  bool number_integer(number_integer_t value) override { return number(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return number(text); }
  bool null() override { return misplaced("null"); }
  bool boolean(bool) override { return misplaced("a boolean"); }
  bool string(string_t&) override { return misplaced("a string"); }
  bool binary(binary_t&) override { return misplaced("binary data"); }

  bool start_array(std::size_t) override {
    if (state_ != State::kStart) return misplaced("a list");
    state_ = State::kList;
    return true;
  }
  bool start_object(std::size_t) override {
    if (state_ != State::kList) return misplaced("an object");
    state_ = State::kPeriod;
    seen_ = {};
    return true;
  }
  bool key(string_t& name) override {
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if (kKeys[i] != name) continue;
      if (seen_[i]) return refuse(fmt::format("the key `{}` stands twice", name));
      key_ = i;
      state_ = State::kValue;
      seen_[i] = true;
      return true;
    }
    return refuse(fmt::format("unknown key `{}`", excerpt(name)));
  }
  bool end_object() override {
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if (!seen_[i]) return refuse(fmt::format("a period has no `{}`", kKeys[i]));
    }
    state_ = State::kList;
    ++num_periods_;
    if (duration_ == Duration::zero()) {
      ++num_empty_;
      return true;
    }
    has_latency_ |= values_.delay != Duration::zero();
    return keep(list_.add(duration_, values_));
  }
  bool end_array() override {
    state_ = State::kDone;
    return list_.length() > Duration::zero() || refuse("no period lasts any time");
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return refuse("not the JSON of a list of periods");
  }

 private:
  enum class State { kStart, kList, kPeriod, kValue, kDone };

  bool number(std::string_view text) {
    if (state_ != State::kValue) return misplaced("a number");
    state_ = State::kPeriod;
    if (key_ == kBandwidth) {
      const Result<DataRate> rate = read_rate(text, kKilobits);
      if (!rate) return keep(rate.error());
      values_.rate = *rate;
      return true;
    }
    const Result<Duration> time = read_time(text, kMilliseconds);
    if (!time)
      return keep(
          error_in("", fmt::format("{}: {}", kKeys[key_], time.error().what), time.error().fix));
    if (key_ == kDuration) {
      duration_ = *time;
    } else {
      values_.delay = *time / 2;
    }
    return true;
  }
  bool misplaced(std::string_view what) { return refuse(fmt::format("{} is out of place", what)); }
  bool refuse(std::string what) { return keep(error_in("", std::move(what), std::string(kFix))); }
  bool keep(const Status& status) {
    if (!status) fault = status.error();
    return status.ok();
  }

  State state_ = State::kStart;
  std::size_t key_ = 0;
  std::array<bool, kKeys.size()> seen_{};
  Duration duration_{};
  RowValues values_;
  bool has_latency_ = false;
  std::int64_t num_periods_ = 0, num_empty_ = 0;
  StepList list_;
};

}  // namespace

Result<std::vector<LinkTrace>> read_sabre(const std::filesystem::path& path, const ReadOptions&) {
  Result<LineReader> lines = LineReader::open(path, kMaxJsonLineBytes);
  if (!lines) return lines.error();
  JsonBytes bytes(*lines);
  PeriodHandler handler;
  const bool parsed = nlohmann::json::sax_parse(bytes.begin(), JsonBytes::end(), &handler);
  if (bytes.fault()) return *bytes.fault();
  if (lines->line_number() == 0) return lines->empty_file();
  if (!parsed || !handler.complete()) {
    return lines->error_here(
        handler.fault.value_or(error_in("", "not a list of periods", std::string(kFix))));
  }
  LinkTrace trace;
  std::move(handler).move_to(trace);
  trace.kind = TraceKind::kAchievedThroughput;
  trace.unit = "kbit/s";
  trace.sha256 = lines->sha256();
  return only(std::move(trace));
}

}  // namespace sluice
