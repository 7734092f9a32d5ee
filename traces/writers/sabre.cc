// Sabre's JSON list of periods, exact: a period for each time in which neither rate nor delay
// changes.
// Surprise: latency_ms is a round trip there, twice our one-way delay, and 0 where we have none.
// Losses and the kind of the rates have no place in it.
#include <fmt/format.h>

#include <algorithm>

#include "traces/writers/writer.h"

namespace sluice {
namespace {

constexpr int kNsPerMsPlaces = 6;
constexpr int kBitsPerKilobitPlaces = 3;

}  // namespace

void write_sabre(std::span<const LinkTrace> traces, std::ostream& out) {
  const LinkTrace& trace = traces.front();
  static const DelayTrace kNoDelay{{DelayStep{}}, Duration::max()};
  const DelayTrace& delay = trace.delay ? *trace.delay : kNoDelay;
  std::size_t rate = 0, d = 0;
  for (Duration at{}; at < trace.length;) {
    const bool last_delay = d + 1 == delay.steps.size();
    const Duration delay_until = last_delay ? trace.length : delay.steps[d + 1].start;
    const Duration until = std::min(step_end(trace, rate), delay_until);
    out << (at == Duration::zero() ? "[\n" : ",\n")
        << fmt::format(R"(  {{"duration_ms": {}, "bandwidth_kbps": {}, "latency_ms": {}}})",
                       decimal_text(to_ns(until - at), kNsPerMsPlaces),
                       decimal_text(trace.steps[rate].rate.bits_per_sec(), kBitsPerKilobitPlaces),
                       decimal_text(2 * to_ns(delay.steps[d].delay), kNsPerMsPlaces));
    if (until == step_end(trace, rate)) ++rate;
    if (until == delay_until && !last_delay) ++d;
    at = until;
  }
  out << "\n]\n";
}

}  // namespace sluice
