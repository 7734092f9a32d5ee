// CellReplay (Sentosa et al., NSDI 2025). Light traces: a row per train of packets, "time delay
// pdo pdo ..." in whole ms: when it was sent, the one-way delay of its first packet, and when each
// packet came after the first. Heavy traces: mahimahi's form, of 1400 B packets.
// Surprise: a train's rate is that of its packets behind the first. The last row only says where
// the trace ends; CellReplay draws a line between delays, here each holds until the next.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "traces/readers/line_reader.h"
#include "traces/readers/mahimahi.h"
#include "traces/readers/numbers.h"
#include "traces/readers/reader.h"
#include "traces/readers/stamped_rows.h"
#include "traces/readers/text_columns.h"

namespace sluice {
namespace {

constexpr DataSize kPacket = DataSize::bytes(1400);  // CellReplay's PACKET_SIZE
constexpr Duration kMillisecond = std::chrono::milliseconds{1};
constexpr std::size_t kMaxTrain = 10'000;

struct Train {
  Duration sent{};
  RowValues values;
  bool has_rate = false;
};

Result<Duration> read_ms(std::string_view text, std::string_view quantity) {
  const Result<std::int64_t> ms = read_count(text, quantity);
  if (!ms) return ms.error();
  if (*ms > kMaxTraceLength / kMillisecond)
    return error_in("", fmt::format("the {} {} ms is absurd", quantity, *ms), "times are ms");
  return *ms * kMillisecond;
}

Status read_arrivals(std::span<const std::string_view> pdos, Train& train) {
  Duration first{}, last{};
  for (std::size_t i = 0; i < pdos.size(); ++i) {
    const Result<Duration> arrival = read_ms(pdos[i], "arrival");
    if (!arrival) return arrival.error();
    if (i == 0) first = last = *arrival;
    if (*arrival < last)
      return error_in("", "the packets of a train go back in time", "sort the arrivals");
    last = *arrival;
  }
  train.has_rate = pdos.size() > 1;
  if (!train.has_rate) return {};
  const auto num_packets = static_cast<std::int64_t>(pdos.size());
  // A train that comes within one millisecond says no more than that it took no longer.
  const Result<DataRate> rate = last > first ? rate_of(kPacket * (num_packets - 1), last - first)
                                             : rate_of(kPacket * num_packets, kMillisecond);
  if (!rate) return rate.error();
  train.values.rate = *rate;
  return {};
}

// `columns` has room for the columns of the longest train.
Result<Train> read_train(std::string_view line, std::span<std::string_view> columns) {
  const std::size_t num_fields = split_columns(line, columns);
  if (num_fields == 0) return error_in("", "the line is empty", "delete it");
  if (num_fields < 2 || num_fields > columns.size()) {
    return error_in("", fmt::format("{} columns", num_fields),
                    fmt::format("give time, delay and up to {} arrivals", kMaxTrain));
  }
  const std::span<const std::string_view> fields = columns.first(num_fields);
  Train train;
  const Result<Duration> sent = read_ms(fields[0], "time");
  if (!sent) return sent.error();
  train.sent = *sent;
  const Result<Duration> delay = read_ms(fields[1], "delay");
  if (!delay) return delay.error();
  if (*delay > kMaxTraceDelay)
    return error_in("", fmt::format("the delay {} is absurd", to_text(*delay)), "delays are ms");
  train.values.delay = *delay;
  if (Status read = read_arrivals(fields.subspan(2), train); !read) return read.error();
  return train;
}

// Trains in the order of the file; the last one waits, for it may be the end.
class Trains {
 public:
  [[nodiscard]] Status add(const Train& train) {
    if (waiting_ && train.sent < waiting_->sent)
      return error_in("", "time goes back behind the row before", "sort the rows by time");
    if (Status settled = settle(train.sent); !settled) return settled;
    waiting_ = train;
    return {};
  }
  [[nodiscard]] Status finish(LinkTrace& trace) && {
    if (rows_.num_rows() == 0) {
      return error_in("", "no train of two packets and more before the last row",
                      "give a light trace of at least two rows");
    }
    if (Status closed = rows_.close(waiting_->sent); !closed) return closed;
    if (Status finished = std::move(rows_).finish(trace); !finished) return finished;
    trace.skip(1, "the last row only says where the trace ends");
    trace.skip(num_short_, "its train has fewer than two packets");
    trace.skip(num_equal_, "the next row has the same time");
    return {};
  }

 private:
  // The row that waits is followed by one at `next`.
  [[nodiscard]] Status settle(Duration next) {
    if (!waiting_) return {};
    if (!waiting_->has_rate) {
      ++num_short_;
    } else if (next == waiting_->sent) {
      ++num_equal_;
    } else {
      return rows_.add(waiting_->sent, waiting_->values);
    }
    return {};
  }

  StampedRows rows_{StampRule::kStart};
  std::optional<Train> waiting_;
  std::int64_t num_short_ = 0, num_equal_ = 0;
};

Result<LinkTrace> read_light(LineReader& lines, std::string_view first) {
  Trains trains;
  std::vector<std::string_view> columns(kMaxTrain + 2);
  std::optional<std::string_view> line = first;
  while (line) {
    const Result<Train> train = read_train(*line, columns);
    if (!train) return lines.error_here(train.error());
    if (Status added = trains.add(*train); !added) return lines.error_here(added.error());
    const auto next = lines.next();
    if (!next) return next.error();
    line = *next;
  }
  LinkTrace trace;
  if (Status finished = std::move(trains).finish(trace); !finished)
    return lines.error_here(finished.error());
  trace.unit = "1400 B packets of a train/ms";
  trace.sha256 = lines.sha256();
  return trace;
}

}  // namespace

Result<std::vector<LinkTrace>> read_cellreplay(const std::filesystem::path& path,
                                               const ReadOptions&) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines) return lines.error();
  const auto first = lines->next();
  if (!first) return first.error();
  if (!*first) return lines->empty_file();
  if (split_columns(**first, {}) > 1) {
    Result<LinkTrace> light = read_light(*lines, **first);
    if (!light) return light.error();
    return only(std::move(*light));
  }
  Result<LinkTrace> heavy = read_opportunities(path, kPacket);
  if (!heavy) return heavy.error();
  heavy->unit = "1400 B packet/ms";
  return only(std::move(*heavy));
}

}  // namespace sluice
