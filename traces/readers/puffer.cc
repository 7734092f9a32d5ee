// Puffer's daily data (Yan et al., NSDI 2020): video_sent_*.csv says when the server began to send
// a chunk of video and how large it was, video_acked_*.csv when the client had it. A trace for each
// stream (session_id, index): the throughput of each chunk, for the time that it took.
// Surprise: two files make the traces; either may be named, the other is found beside it. Time in
// which nothing was on its way is left out, because the player, not the link, was idle.
#include <fmt/format.h>

#include <algorithm>

#include "traces/readers/csv_file.h"
#include "traces/readers/numbers.h"
#include "traces/readers/reader.h"
#include "traces/readers/row_groups.h"
#include "traces/step_list.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSent = "video_sent", kAcked = "video_acked";

struct Chunk {
  std::int64_t video_ts = 0;  // in ticks of the video's clock: names the chunk in its stream
  Duration at{};              // when it was sent, or acknowledged: since 1970
  DataSize size;
  std::optional<Duration> delay;  // half of TCP's smallest round trip so far
  std::optional<DataRate> rate;   // once it is acknowledged
  Duration time{};                // from sent to acknowledged
};
struct Stream {
  std::vector<Chunk> chunks;  // video_ts ascends
  LinkTrace trace;
};
using Streams = RowGroups<Stream>;

struct Columns {
  std::size_t time = 0, session = 0, index = 0, video_ts = 0;
  std::optional<std::size_t> size, min_rtt;  // of what was sent
};

// The header calls its first column `time (ns GMT)`, which older files shorten.
Result<std::size_t> time_column(const CsvFile& file) {
  for (std::size_t i = 0; i < file.names().size(); ++i) {
    if (file.names()[i].starts_with("time")) return i;
  }
  return file.column("time (ns GMT)");
}

Result<Columns> find_columns(const CsvFile& file) {
  Columns columns;
  const Result<std::size_t> time = time_column(file);
  if (!time) return time.error();
  columns.time = *time;
  const std::pair<std::string_view, std::size_t*> kWanted[] = {
      {"session_id", &columns.session}, {"index", &columns.index}, {"video_ts", &columns.video_ts}};
  for (const auto& [name, index] : kWanted) {
    const Result<std::size_t> column = file.column(name);
    if (!column) return column.error();
    *index = *column;
  }
  columns.size = file.find("size");
  columns.min_rtt = file.find("min_rtt");
  return columns;
}

std::string key_of(const CsvFile& row, const Columns& columns) {
  return fmt::format("{}/{}", row[columns.session], row[columns.index]);
}

// The path of the other file of the pair.
Result<fs::path> partner_of(const fs::path& path, bool is_sent) {
  const std::string_view own = is_sent ? kSent : kAcked, other = is_sent ? kAcked : kSent;
  std::string name = path.filename().string();
  const std::size_t at = name.find(own);
  if (at == std::string::npos) {
    return error_in(
        path.string(), fmt::format("the name does not say `{}`", own),
        fmt::format("call the pair {}_DAY.csv and {}_DAY.csv, in one folder", kSent, kAcked));
  }
  fs::path partner = path;
  partner.replace_filename(name.replace(at, own.size(), other));
  std::error_code code;
  if (fs::exists(partner, code)) return partner;
  return error_in(path.string(), fmt::format("{} is not beside it", name),
                  "transmission times need both files");
}

Result<Chunk> read_chunk(const CsvFile& row, const Columns& columns) {
  Chunk chunk;
  const Result<std::int64_t> video_ts = read_count(row[columns.video_ts], "video_ts");
  if (!video_ts) return video_ts.error();
  chunk.video_ts = *video_ts;
  const Result<Duration> time = read_time(row[columns.time], kNanoseconds);
  if (!time) return time.error();
  chunk.at = *time;
  if (!columns.size) return chunk;
  const Result<std::int64_t> size = read_count(row[*columns.size], "size");
  if (!size) return size.error();
  chunk.size = DataSize::bytes(*size);
  if (!columns.min_rtt || row[*columns.min_rtt].empty()) return chunk;
  const Result<Duration> rtt = read_time(row[*columns.min_rtt], kMicroseconds);
  if (!rtt) return error_in("", "min_rtt: " + rtt.error().what, rtt.error().fix);
  if (*rtt / 2 > kMaxTraceDelay)
    return error_in("", fmt::format("min_rtt: {} is absurd", to_text(*rtt)), "it is in us");
  chunk.delay = *rtt / 2;
  return chunk;
}

Status add_sent(const CsvFile& row, const Columns& columns, Streams& streams) {
  const Result<Chunk> chunk = read_chunk(row, columns);
  if (!chunk) return chunk.error();
  const Result<Streams::Group*> stream = streams.at(key_of(row, columns), row.line());
  if (!stream) return stream.error();
  std::vector<Chunk>& chunks = (*stream)->state.chunks;
  if (!chunks.empty() && chunk->video_ts <= chunks.back().video_ts) {
    (*stream)->state.trace.skip(1, "sent again: its video_ts does not go up in its stream");
  } else {
    chunks.push_back(*chunk);
  }
  return {};
}

// `strays` counts the rows of streams that are not among the sent ones.
Status add_acked(const CsvFile& row, const Columns& columns, Streams& streams, LinkTrace& strays) {
  const Result<Chunk> acked = read_chunk(row, columns);
  if (!acked) return acked.error();
  Streams::Group* stream = streams.find(key_of(row, columns));
  if (stream == nullptr) {
    strays.skip(1, "acknowledged, but never sent");
    return {};
  }
  stream->hash.update(row.line());
  stream->hash.update("\n");
  std::vector<Chunk>& chunks = stream->state.chunks;
  const auto chunk =
      std::lower_bound(chunks.begin(), chunks.end(), acked->video_ts,
                       [](const Chunk& c, std::int64_t video_ts) { return c.video_ts < video_ts; });
  LinkTrace& trace = stream->state.trace;
  if (chunk == chunks.end() || chunk->video_ts != acked->video_ts) {
    trace.skip(1, "acknowledged, but never sent");
  } else if (chunk->rate) {
    trace.skip(1, "acknowledged again");
  } else if (acked->at <= chunk->at) {
    trace.skip(1, "acknowledged before it was sent");
  } else {
    chunk->time = acked->at - chunk->at;
    const Result<DataRate> rate = rate_of(chunk->size, chunk->time);
    if (!rate) return rate.error();
    chunk->rate = *rate;
  }
  return {};
}

Result<LinkTrace> finish(Streams::Group& stream) {
  LinkTrace trace = std::move(stream.state.trace);
  StepList list;
  for (const Chunk& chunk : stream.state.chunks) {
    if (!chunk.rate) {
      trace.skip(1, "sent, but never acknowledged");
      continue;
    }
    ++trace.num_rows;
    if (Status added = list.add(chunk.time, {.rate = *chunk.rate, .delay = chunk.delay}); !added)
      return added.error();
  }
  std::move(list).move_to(trace);
  trace.kind = TraceKind::kAchievedThroughput;
  trace.unit = "B per ns";
  trace.sha256 = stream.hash.hex();
  trace.notes.emplace_back("the time between chunks is left out");
  return trace;
}

// Calls add(row) for all rows of the file.
template <typename Add>
Status for_each_row(CsvFile& file, Add add) {
  while (true) {
    const Result<bool> row = file.next();
    if (!row) return row.error();
    if (!*row) return {};
    if (Status added = add(file); !added) return file.place(added.error());
  }
}

Result<std::vector<LinkTrace>> finish_all(Streams& streams, const LinkTrace& strays,
                                          const fs::path& path) {
  std::vector<LinkTrace> traces;
  LinkTrace silent = strays;
  for (const auto& stream : streams.all()) {
    Result<LinkTrace> trace = finish(*stream);
    if (!trace) return error_in(path.string(), trace.error().what, trace.error().fix);
    if (trace->num_rows == 0) {
      for (SkippedRows& rows : trace->skipped) silent.skip(rows.count, std::move(rows.reason));
      continue;
    }
    trace->name = fmt::format("{}#{}", path.filename().string(), stream->key);
    traces.push_back(std::move(*trace));
  }
  if (traces.empty())
    return error_in(path.string(), "no chunk was sent and acknowledged",
                    "give the pair of one day");
  for (const SkippedRows& rows : silent.skipped) traces.front().skip(rows.count, rows.reason);
  if (traces.size() == 1) traces.front().name.clear();
  return traces;
}

}  // namespace

Result<std::vector<LinkTrace>> read_puffer(const fs::path& path, const ReadOptions&) {
  Result<CsvFile> named = CsvFile::open(path);
  if (!named) return named.error();
  const Result<Columns> named_columns = find_columns(*named);
  if (!named_columns) return named_columns.error();
  const bool is_sent = named_columns->size.has_value();
  const Result<fs::path> partner_path = partner_of(path, is_sent);
  if (!partner_path) return partner_path.error();
  Result<CsvFile> partner = CsvFile::open(*partner_path);
  if (!partner) return partner.error();
  const Result<Columns> partner_columns = find_columns(*partner);
  if (!partner_columns) return partner_columns.error();
  if (partner_columns->size.has_value() == is_sent) {
    return error_in(partner_path->string(), "both files have sizes, or neither has",
                    "give one of chunks sent and one of chunks acknowledged");
  }
  CsvFile& sent = is_sent ? *named : *partner;
  CsvFile& acked = is_sent ? *partner : *named;
  const Columns& sent_columns = is_sent ? *named_columns : *partner_columns;
  const Columns& acked_columns = is_sent ? *partner_columns : *named_columns;
  Streams streams;
  LinkTrace strays;
  const Status sent_read =
      for_each_row(sent, [&](const CsvFile& row) { return add_sent(row, sent_columns, streams); });
  if (!sent_read) return sent_read.error();
  const Status acked_read = for_each_row(
      acked, [&](const CsvFile& row) { return add_acked(row, acked_columns, streams, strays); });
  if (!acked_read) return acked_read.error();
  return finish_all(streams, strays, path);
}

}  // namespace sluice
