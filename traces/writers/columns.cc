// The text formats that hold a trace exactly: two columns, our own CSV, and CacheGen's JSON lines.
#include <fmt/format.h>

#include "traces/writers/writer.h"

namespace sluice {
namespace {

// Decimal places from our units to those of the formats.
constexpr int kNsPerSecPlaces = 9;
constexpr int kBitsPerMegabitPlaces = 6;
constexpr int kBitsPerGigabitPlaces = 9;

}  // namespace

std::string decimal_text(std::int64_t value, int places) {
  std::int64_t one = 1;
  for (int i = 0; i < places; ++i) one *= 10;
  std::string text = fmt::format("{}.{:0{}}", value / one, value % one, places);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

// A row ends its interval. The row at zero ends none: it tells the reader that the clock begins
// there.
void write_two_column(std::span<const LinkTrace> traces, std::ostream& out) {
  const LinkTrace& trace = traces.front();
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const std::string rate =
        decimal_text(trace.steps[i].rate.bits_per_sec(), kBitsPerMegabitPlaces);
    if (i == 0) out << "0\t" << rate << '\n';
    out << decimal_text(to_ns(step_end(trace, i)), kNsPerSecPlaces) << '\t' << rate << '\n';
  }
}

void write_csv(std::span<const LinkTrace> traces, std::ostream& out) {
  const LinkTrace& trace = traces.front();
  out << (trace.kind == TraceKind::kCapacity ? "t_ns,capacity_bps\n" : "t_ns,throughput_bps\n");
  for (const RateStep& step : trace.steps)
    out << to_ns(step.start) << ',' << step.rate.bits_per_sec() << '\n';
  out << to_ns(trace.length) << ",\n";
}

void write_cachegen(std::span<const LinkTrace> traces, std::ostream& out) {
  for (const LinkTrace& trace : traces) {
    for (std::size_t i = 0; i < trace.steps.size(); ++i) {
      out << (i == 0 ? R"({"bw": [)" : ", ")
          << decimal_text(trace.steps[i].rate.bits_per_sec(), kBitsPerGigabitPlaces);
    }
    out << "]}\n";
  }
}

}  // namespace sluice
