// mahimahi: the opportunity of a packet is written at the millisecond in which its last byte has
// accrued.
// Surprise: the last line is the period, so the last opportunity of the lap moves to the lap's end,
// wherever its bytes accrued; a length that is no whole number of milliseconds is rounded up.
#include <fmt/format.h>

#include <algorithm>

#include "traces/readers/mahimahi.h"
#include "traces/writers/writer.h"

namespace sluice {
namespace {

constexpr std::int64_t kMaxLines = 100'000'000;
constexpr std::int64_t kMaxBins = 1'000'000'000;  // 11 days

std::int64_t num_bins(const LinkTrace& trace) {
  return (trace.length + kMahimahiBin - nanoseconds(1)) / kMahimahiBin;
}

// Calls visit(bin, packets accrued by the end of that millisecond) for each millisecond of the lap.
template <typename Visit>
void for_each_bin(const LinkTrace& trace, Visit visit) {
  TransferSum sum;
  std::size_t step = 0;
  Duration at{};
  for (std::int64_t bin = 0; at < trace.length; ++bin) {
    const Duration bin_end = std::min((bin + 1) * kMahimahiBin, trace.length);
    while (at < bin_end) {
      const Duration until = std::min(step_end(trace, step), bin_end);
      sum.add(trace.steps[step].rate, until - at);
      at = until;
      if (at == step_end(trace, step)) ++step;
    }
    visit(bin, sum.bytes().bytes() / kMahimahiPacket.bytes());
  }
}

}  // namespace

Status check_mahimahi(std::span<const LinkTrace> traces) {
  const LinkTrace& trace = traces.front();
  if (num_bins(trace) > kMaxBins) {
    return error_in("", fmt::format("{} is too long for mahimahi", to_text(trace.length)),
                    "cut the trace");
  }
  TransferSum sum;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    sum.add(trace.steps[i].rate, step_end(trace, i) - trace.steps[i].start);
  }
  if (sum.reaches(kMahimahiPacket * kMaxLines)) {
    return error_in("", fmt::format("needs more than {} lines of 1500 B", kMaxLines),
                    "cut the trace");
  }
  if (!sum.reaches(kMahimahiPacket)) {
    return error_in("", "moves less than one packet of 1500 B", "choose another format");
  }
  return {};
}

void write_mahimahi(std::span<const LinkTrace> traces, std::ostream& out) {
  const std::int64_t period = num_bins(traces.front());
  std::int64_t written = 0, pending_ms = 0;  // one opportunity is held back: it may be the last
  for_each_bin(traces.front(), [&](std::int64_t bin, std::int64_t accrued) {
    for (; written < accrued; ++written) {
      if (written > 0) out << pending_ms << '\n';
      pending_ms = bin + 1;
    }
  });
  out << period << '\n';
}

}  // namespace sluice
