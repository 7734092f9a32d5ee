// CacheGen's traces: JSON lines, one trace each, {"bw": [0.9, 4.2, ...]} in Gbit/s, one number per
// chunk of a load.
// Surprise: chunk-clocked (the i-th number holds for the i-th chunk, whatever time it is), and
// several traces per file.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "traces/readers/line_reader.h"
#include "traces/readers/numbers.h"
#include "traces/readers/reader.h"
#include "traces/step_list.h"

namespace sluice {
namespace {

// Takes the numbers as they are written, so that 0.1 Gbit/s is 100000000 bit/s. Each callback
// refuses what is out of place, so nesting never grows.
class BandwidthHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<RateStep> steps;
  std::optional<Error> fault;

  bool complete() const { return state_ == State::kDone; }

  bool number_integer(number_integer_t value) override { return rate(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return rate(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return rate(text); }
  bool null() override { return misplaced("null"); }
  bool boolean(bool) override { return misplaced("a boolean"); }
  bool string(string_t&) override { return misplaced("a string"); }
  bool binary(binary_t&) override { return misplaced("binary data"); }

  bool start_object(std::size_t) override {
    if (state_ != State::kStart) return misplaced("an object");
    state_ = State::kObject;
    return true;
  }
  bool key(string_t& name) override {
    if (name != "bw") return refuse(fmt::format("unknown key `{}`", excerpt(name)));
    if (seen_bw_) return refuse("the key `bw` stands twice");
    seen_bw_ = true;
    state_ = State::kBeforeList;
    return true;
  }
  bool start_array(std::size_t) override {
    if (state_ != State::kBeforeList) return misplaced("a list");
    state_ = State::kList;
    return true;
  }
  bool end_array() override {
    state_ = State::kObject;
    return !steps.empty() || refuse("`bw` is an empty list");
  }
  bool end_object() override {
    state_ = State::kDone;
    return seen_bw_ || refuse("the key `bw` is missing");
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    return refuse(fmt::format("not JSON from column {} on", position));
  }

 private:
  enum class State { kStart, kObject, kBeforeList, kList, kDone };

  bool rate(std::string_view text) {
    if (state_ != State::kList) return misplaced("a number");
    if (steps.size() >= kMaxSteps) return refuse("too many numbers");
    const Result<DataRate> read = read_rate(text, kGigabits);
    if (!read) {
      fault = read.error();
      return false;
    }
    steps.push_back({Duration::zero(), *read});
    return true;
  }
  bool misplaced(std::string_view what) { return refuse(fmt::format("{} is out of place", what)); }
  bool refuse(std::string what) {
    fault = error_in("", std::move(what), R"(write one {"bw": [0.9, 4.2]} per line, in Gbit/s)");
    return false;
  }

  State state_ = State::kStart;
  bool seen_bw_ = false;
};

Result<LinkTrace> read_line(std::string_view line) {
  BandwidthHandler handler;
  if (line.empty()) return error_in("", "the line is empty", "delete it: each line is one trace");
  if (!nlohmann::json::sax_parse(line, &handler) || !handler.complete()) {
    return handler.fault.value_or(error_in("", "not a JSON object", R"(write {"bw": [0.9, 4.2]})"));
  }
  LinkTrace trace;
  trace.steps = std::move(handler.steps);
  trace.num_rows = static_cast<std::int64_t>(trace.steps.size());
  trace.clock = TraceClock::kChunk;
  trace.unit = "Gbit/s per chunk";
  trace.sha256 = sha256_hex(line);
  return trace;
}

}  // namespace

Result<std::vector<LinkTrace>> read_cachegen(const std::filesystem::path& path,
                                             const ReadOptions&) {
  Result<LineReader> opened = LineReader::open(path, kMaxJsonLineBytes);
  if (!opened) return opened.error();
  LineReader& lines = *opened;
  std::vector<LinkTrace> traces;
  std::size_t num_steps = 0;
  while (true) {
    const auto line = lines.next();
    if (!line) return line.error();
    if (!*line) break;
    Result<LinkTrace> trace = read_line(**line);
    if (!trace) return lines.error_here(trace.error());
    num_steps += trace->steps.size();
    if (num_steps > kMaxSteps) {
      return lines.error_here(fmt::format("more than {} rates", kMaxSteps), "split the file");
    }
    traces.push_back(std::move(*trace));
  }
  if (traces.empty()) return lines.empty_file();
  if (traces.size() == 1) {
    traces.front().sha256 = lines.sha256();
    return traces;
  }
  for (std::size_t i = 0; i < traces.size(); ++i) {
    traces[i].name = fmt::format("{}#{}", path.filename().string(), i + 1);
  }
  return traces;
}

}  // namespace sluice
