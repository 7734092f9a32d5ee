#include <fmt/format.h>

#include <array>

#include "base/files.h"
#include "base/names.h"
#include "traces/write.h"
#include "traces/writers/writer.h"

namespace sluice {
namespace {

Status express_all(std::span<const LinkTrace>) {
  return {};
}

constexpr std::array kWriters{
    WriterInfo{"mahimahi", "packet opportunities; residues carried over", TraceClock::kTime, false,
               TraceKind::kCapacity},
    WriterInfo{"two-column", "seconds and Mbit/s, exact", TraceClock::kTime, false,
               TraceKind::kAchievedThroughput},
    WriterInfo{"sabre", "a JSON list of periods in ms and kbit/s, exact; keeps the delay",
               TraceClock::kTime, false, TraceKind::kAchievedThroughput, true},
    WriterInfo{"csv", "our own form, t_ns and bit/s, exact; keeps the kind", TraceClock::kTime,
               false, std::nullopt},
    WriterInfo{"cachegen", "JSON lines in Gbit/s, exact", TraceClock::kChunk, true,
               TraceKind::kCapacity},
};

struct WriterCode {
  Status (*check)(std::span<const LinkTrace>);
  void (*write)(std::span<const LinkTrace>, std::ostream&);
};
// In the order of kWriters.
constexpr std::array kCode{
    WriterCode{check_mahimahi, write_mahimahi}, WriterCode{express_all, write_two_column},
    WriterCode{express_all, write_sabre},       WriterCode{express_all, write_csv},
    WriterCode{express_all, write_cachegen},
};
static_assert(kWriters.size() == kCode.size());

Result<std::size_t> find_writer(std::string_view format) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < kWriters.size(); ++i) {
    if (kWriters[i].id == format) return i;
    known.emplace_back(kWriters[i].id);
  }
  return error_in("--to", fmt::format("unknown format `{}`", format), suggest_name(format, known));
}

Status check_fit(const WriterInfo& writer, std::span<const LinkTrace> traces) {
  if (traces.size() > 1 && !writer.several) {
    return error_in("--to",
                    fmt::format("{} holds one trace per file, not {}", writer.id, traces.size()),
                    "choose one with --trace, or the format cachegen");
  }
  for (const LinkTrace& trace : traces) {
    if (trace.clock != writer.clock) {
      const bool timed = trace.clock == TraceClock::kTime;
      return error_in("--to",
                      fmt::format("{} has rates per {}, {} holds rates per {}", trace.name,
                                  timed ? "time" : "chunk", writer.id, timed ? "chunk" : "time"),
                      timed ? "choose mahimahi, two-column, sabre or csv" : "choose cachegen");
    }
    if (trace.end == TraceEnd::kHold) {
      return error_in("--to",
                      fmt::format("{} holds its last rate, but trace files repeat", trace.name),
                      "make the trace repeat, and as long as the run");
    }
  }
  return {};
}

}  // namespace

std::span<const WriterInfo> writers() {
  return kWriters;
}

Status write_traces(const std::filesystem::path& path, std::string_view format,
                    std::span<const LinkTrace> traces) {
  const Result<std::size_t> writer = find_writer(format);
  if (!writer) return writer.error();
  if (traces.empty()) return error_in(path.string(), "no trace to write", "give at least one");
  if (Status fits = check_fit(kWriters[*writer], traces); !fits) return fits;
  if (Status expressible = kCode[*writer].check(traces); !expressible) {
    return error_in("--to", fmt::format("{}: {}", traces.front().name, expressible.error().what),
                    expressible.error().fix);
  }
  return write_file_atomically(path, [&](std::ostream& out) { kCode[*writer].write(traces, out); });
}

}  // namespace sluice
