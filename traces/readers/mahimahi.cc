// mahimahi packet-delivery traces: one whole number per line, the millisecond at which 1500 bytes
// may pass.
// Surprise: a line at ms v is capacity of the millisecond that ends at v, so its packet is through
// at v, as in mahimahi. The last line is the period; a line 0 therefore belongs to the last
// millisecond of a lap.
#include "traces/readers/mahimahi.h"

#include <fmt/format.h>

#include "traces/readers/line_reader.h"
#include "traces/readers/numbers.h"
#include "traces/readers/reader.h"
#include "traces/step_list.h"

namespace sluice {
namespace {

constexpr std::int64_t kMaxMs = kMaxTraceLength / kMahimahiBin;
// Equal lines in a row are counted; a count becomes a one-millisecond step when the next value
// arrives.
class Opportunities {
 public:
  explicit Opportunities(DataSize packet)
      : packet_(packet),
        max_per_ms_(kMaxLinkRate.bits_per_sec() / mean_rate(packet, kMahimahiBin).bits_per_sec()) {}

  [[nodiscard]] Status add(std::int64_t ms) {
    if (ms < at_ms_) {
      return error_in("", fmt::format("time goes back: {} ms after {} ms", ms, at_ms_),
                      "sort the lines");
    }
    if (ms > kMaxMs)
      return error_in("", fmt::format("{} ms is more than ten years", ms),
                      "times are milliseconds");
    if (ms != at_ms_) {
      if (steps_.full()) {
        return error_in("", fmt::format("more than {} rate changes", kMaxSteps),
                        "cut the trace into parts");
      }
      flush();
      at_ms_ = ms;
    }
    if (++count_ > max_per_ms_) {
      return error_in("", fmt::format("more than {} opportunities in one millisecond", max_per_ms_),
                      "spread the lines over time");
    }
    return {};
  }

  [[nodiscard]] std::int64_t period_ms() const { return at_ms_; }

  // The instant 0 is the end of the lap before, that is of the last millisecond.
  [[nodiscard]] Status finish(LinkTrace& trace) && {
    count_ += num_at_zero_;
    if (count_ > max_per_ms_) {
      return error_in("", "too many opportunities in the last millisecond",
                      "spread the lines over time");
    }
    flush();
    std::move(steps_).move_to(trace);
    return {};
  }

 private:
  void flush() {
    if (at_ms_ == 0) {
      num_at_zero_ = count_;
    } else if (count_ > 0) {
      const Duration bin_start = (at_ms_ - 1) * kMahimahiBin;
      if (bin_start > steps_.length()) steps_.append(bin_start - steps_.length(), DataRate::zero());
      steps_.append(kMahimahiBin, mean_rate(packet_ * count_, kMahimahiBin));
    }
    count_ = 0;
  }

  DataSize packet_;
  std::int64_t max_per_ms_;  // the most that stay within kMaxLinkRate
  StepList steps_;
  std::int64_t at_ms_ = 0;
  std::int64_t count_ = 0;
  std::int64_t num_at_zero_ = 0;
};

Error number_error(const LineReader& lines, std::string_view text, NumberFault fault) {
  if (text.empty())
    return lines.error_here("the line is empty", "delete it: each line is one opportunity");
  if (fault == NumberFault::kNegative) {
    return lines.error_here(fmt::format("the time `{}` is negative", excerpt(text)),
                            "times are zero or more");
  }
  return lines.error_here(fmt::format("`{}` is not a whole number of milliseconds", excerpt(text)),
                          "write one number such as `12` per line");
}

}  // namespace

Result<LinkTrace> read_opportunities(const std::filesystem::path& path, DataSize packet) {
  Result<LineReader> opened = LineReader::open(path);
  if (!opened) return opened.error();
  LineReader& lines = *opened;
  Opportunities opportunities(packet);
  while (true) {
    const auto line = lines.next();
    if (!line) return line.error();
    if (!*line) break;
    const ScaledNumber ms = read_whole(**line);
    if (ms.fault != NumberFault::kNone) return number_error(lines, **line, ms.fault);
    if (Status added = opportunities.add(ms.value); !added) return lines.error_here(added.error());
  }
  if (lines.line_number() == 0) return lines.empty_file();
  if (opportunities.period_ms() == 0) {
    return lines.error_here("the last value is 0, so the trace has no length",
                            "end with the period in milliseconds, which is 1 or more");
  }
  LinkTrace trace;
  if (Status finished = std::move(opportunities).finish(trace); !finished) {
    return lines.error_here(finished.error());
  }
  trace.num_rows = lines.line_number();
  trace.sha256 = lines.sha256();
  return trace;
}

Result<std::vector<LinkTrace>> read_mahimahi(const std::filesystem::path& path,
                                             const ReadOptions&) {
  Result<LinkTrace> trace = read_opportunities(path, kMahimahiPacket);
  if (!trace) return trace.error();
  trace->unit = "1500 B packet/ms";
  return only(std::move(*trace));
}

}  // namespace sluice
