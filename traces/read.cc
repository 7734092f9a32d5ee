#include "traces/read.h"

#include <fmt/format.h>

#include <array>

#include "base/names.h"
#include "traces/readers/reader.h"

namespace sluice {
namespace {

Status check_options(const ReaderInfo& reader, const ReadOptions& options) {
  const auto refuse = [&](std::string_view option) {
    return error_in(std::string(option), fmt::format("the reader {} has no use for it", reader.id),
                    "leave it out");
  };
  if (options.unit && !reader.takes_unit) return refuse("--unit");
  if (options.time_unit && !reader.takes_unit) return refuse("--time-unit");
  if (options.time_column && !reader.takes_time_column) return refuse("--time-column");
  if (options.rate_column && !reader.takes_rate_column) return refuse("--rate-column");
  if (options.stamps && !reader.takes_stamps) return refuse("--stamps");
  return {};
}

Result<std::string> reader_id(const std::filesystem::path& path, const ReadOptions& options) {
  if (options.reader) return *options.reader;
  const Result<Detection> detection = detect_reader(path);
  if (!detection) return detection.error();
  return detection->reader;
}

// What stands behind FILE# in the name of one of several traces.
std::string_view key_of(const LinkTrace& trace, const std::filesystem::path& path) {
  const std::size_t prefix = path.filename().string().size() + 1;
  return trace.name.size() > prefix ? std::string_view(trace.name).substr(prefix)
                                    : std::string_view();
}

// Leaves the wanted trace alone in `traces`: the one of that key, else the one of that number.
Status choose(std::vector<LinkTrace>& traces, const std::string& wanted,
              const std::filesystem::path& path) {
  std::vector<std::string> keys;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    keys.emplace_back(key_of(traces[i], path));
    if (keys.back() == wanted) {
      found = i;
      break;
    }
    if (std::to_string(i + 1) == wanted) found = i;
  }
  if (found) {
    LinkTrace chosen = std::move(traces[*found]);
    traces.clear();
    traces.push_back(std::move(chosen));
    return {};
  }
  std::string fix = traces.size() == 1
                        ? "leave it out: the file holds one trace"
                        : fmt::format("give a number from 1 to {}, or a name such as `{}`",
                                      traces.size(), nearest_name(wanted, keys).value_or(keys[0]));
  return error_in("--trace", fmt::format("no trace `{}` in {}", wanted, path.string()),
                  std::move(fix));
}

}  // namespace

Result<std::vector<LinkTrace>> read_traces(const std::filesystem::path& path,
                                           const ReadOptions& options) {
  const Result<std::string> id = reader_id(path, options);
  if (!id) return id.error();
  const Result<const ReaderInfo*> reader = find_reader(*id);
  if (!reader) return reader.error();
  if (Status usable = check_options(**reader, options); !usable) return usable.error();
  Result<std::vector<LinkTrace>> traces = (*reader)->read(path, options);
  if (!traces) return traces.error();
  for (LinkTrace& trace : *traces) {
    trace.reader = *id;
    if (trace.name.empty()) trace.name = path.filename().string();
    if (options.kind) trace.kind = *options.kind;
    if (Status sound = check_trace(trace); !sound) {
      return error_in(path.string(), sound.error().what, sound.error().fix);
    }
  }
  if (options.trace) {
    if (Status chosen = choose(*traces, *options.trace, path); !chosen) return chosen.error();
  }
  return traces;
}

Result<StampRule> parse_stamp_rule(std::string_view text) {
  if (text == "end") return StampRule::kEnd;
  if (text == "start") return StampRule::kStart;
  static const std::array<std::string, 2> kKnown{"end", "start"};
  return error_in("--stamps", fmt::format("unknown rule `{}`", text), suggest_name(text, kKnown));
}

Result<TraceKind> parse_trace_kind(std::string_view text) {
  if (text == "capacity") return TraceKind::kCapacity;
  if (text == "throughput") return TraceKind::kAchievedThroughput;
  static const std::array<std::string, 2> kKnown{"capacity", "throughput"};
  return error_in("--kind", fmt::format("unknown kind `{}`", text), suggest_name(text, kKnown));
}

std::vector<ReaderSummary> list_readers() {
  std::vector<ReaderSummary> out;
  for (const ReaderInfo& r : readers()) {
    out.push_back({std::string(r.id), std::string(r.summary), std::string(r.unit),
                   std::string(r.kind), r.clock == TraceClock::kTime ? "time" : "chunk"});
  }
  return out;
}

}  // namespace sluice
