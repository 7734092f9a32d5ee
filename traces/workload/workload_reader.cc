// The stream of requests of a file: one format's lines, brought into order and checked.
// Surprise: a session's later calls wait in a heap until the file has come to their time.
#include <fmt/format.h>

#include <algorithm>

#include "traces/readers/line_reader.h"
#include "traces/workload/format.h"
#include "traces/workload/workload_trace.h"

namespace sluice {
namespace {

constexpr std::size_t kMaxWaiting = 1'000'000;  // calls of sessions that are still to come
constexpr std::string_view kNoInput = "no input tokens: there is nothing to load";

struct Waiting {
  WorkloadRequest request;
  std::int64_t number = 0;  // in file order
};

// Of two requests the later one; file order among equals.
bool comes_later(const Waiting& a, const Waiting& b) {
  return a.request.arrival != b.request.arrival ? a.request.arrival > b.request.arrival
                                                : a.number > b.number;
}

Status check_options(const WorkloadFormatInfo& format, const WorkloadOptions& options) {
  const auto refuse = [&](std::string_view option) {
    return error_in(std::string(option), fmt::format("the reader {} has no use for it", format.id),
                    "leave it out");
  };
  if (!format.takes_columns) {
    if (options.time_unit) return refuse("--time-unit");
    if (options.time_column) return refuse("--time-column");
    if (options.input_column) return refuse("--input-column");
    if (options.output_column) return refuse("--output-column");
  }
  if (!options.block_tokens) return {};
  if (!format.takes_block_tokens) return refuse("--block-tokens");
  if (*options.block_tokens >= 1 && *options.block_tokens <= kMaxRequestTokens) return {};
  return error_in("--block-tokens", fmt::format("{} is out of range", *options.block_tokens),
                  fmt::format("use 1 to {}", kMaxRequestTokens));
}

Result<std::string> reader_id(const std::filesystem::path& path, const WorkloadOptions& options) {
  if (options.reader) return *options.reader;
  const Result<std::optional<WorkloadDetection>> found = detect_workload(path);
  if (!found) return found.error();
  if (*found) return (*found)->reader;
  return error_in(path.string(), "its first line is of no known workload format",
                  "choose with --reader; `./sluice trace list` shows them");
}

}  // namespace

struct WorkloadReader::State {
  LineReader lines;
  const WorkloadFormatInfo* info;
  std::unique_ptr<WorkloadFormat> format;
  WorkloadRows rows;
  std::vector<Waiting> waiting;  // a heap by arrival, then file order
  std::vector<SkippedRows> skipped;
  std::optional<Duration> origin;      // the first request, on the file's clock
  std::optional<Duration> line_clock;  // since then, of the last line with requests
  std::int64_t num_seen = 0;           // requests, those without input included
  bool at_end = false;
  bool any_given = false;

  Status read_line(std::string_view line);
  Status take(WorkloadRequest request, std::optional<Duration>& previous);
  void skip(std::string_view why);
  [[nodiscard]] bool may_give() const;
};

void WorkloadReader::State::skip(std::string_view why) {
  const auto known = std::find_if(skipped.begin(), skipped.end(),
                                  [&](const SkippedRows& one) { return one.reason == why; });
  if (known != skipped.end()) {
    ++known->count;
  } else {
    skipped.push_back({1, std::string(why)});
  }
}

// Brings one request of the line just read onto the trace's clock. `previous` is that of the
// request before it in the file, or in its session.
Status WorkloadReader::State::take(WorkloadRequest request, std::optional<Duration>& previous) {
  if (++num_seen > 1 && request.arrival.has_value() != origin.has_value())
    return error_in("", "some requests have a time and some have none", "give all of them one");
  if (request.arrival) {
    if (!origin) origin = *request.arrival;
    const Duration since = *request.arrival - *origin;
    if (since < previous.value_or(Duration::zero())) {
      return error_in("", "the time is earlier than that of the line before",
                      "sort the file by time");
    }
    if (since > kMaxTraceLength)
      return error_in("", "the time is more than ten years after the first", "check its unit");
    request.arrival = previous = since;
  }
  if (request.input_tokens == 0) {
    skip(kNoInput);
    return {};
  }
  if (waiting.size() >= kMaxWaiting) {
    return error_in("",
                    fmt::format("more than {} calls of sessions are still to come", kMaxWaiting),
                    "split the file");
  }
  request.line = lines.line_number();
  waiting.push_back({std::move(request), num_seen});
  std::push_heap(waiting.begin(), waiting.end(), comes_later);
  return {};
}

Status WorkloadReader::State::read_line(std::string_view line) {
  if (line.empty()) return error_in("", "the line is empty", "delete it");
  rows.clear();
  if (Status read = format->read(line, rows); !read) return read;
  if (!rows.skipped().empty()) skip(rows.skipped());
  std::optional<Duration> previous = line_clock;
  bool first = true;
  for (WorkloadRequest& request : rows.requests()) {
    if (Status taken = take(std::move(request), previous); !taken) return taken;
    if (first) line_clock = previous;  // a session's later calls do not move the file's clock
    first = false;
  }
  return {};
}

// What the heap's top is: the next request, once no line to come can be before it.
bool WorkloadReader::State::may_give() const {
  return !waiting.empty() && (at_end || waiting.front().request.arrival <= line_clock);
}

WorkloadReader::WorkloadReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
WorkloadReader::WorkloadReader(WorkloadReader&&) noexcept = default;
WorkloadReader& WorkloadReader::operator=(WorkloadReader&&) noexcept = default;
WorkloadReader::~WorkloadReader() = default;

Result<WorkloadReader> WorkloadReader::open(const std::filesystem::path& path,
                                            const WorkloadOptions& options) {
  const Result<std::string> id = reader_id(path, options);
  if (!id) return id.error();
  const Result<const WorkloadFormatInfo*> info = find_workload_format(*id);
  if (!info) return info.error();
  if (Status usable = check_options(**info, options); !usable) return usable.error();
  Result<LineReader> lines =
      LineReader::open(path, (*info)->has_header ? kMaxLineBytes : kMaxJsonLineBytes);
  if (!lines) return lines.error();
  std::string header;
  if ((*info)->has_header) {
    const auto line = lines->next();
    if (!line) return line.error();
    if (!*line) return lines->empty_file();
    header = **line;
  }
  MadeFormat format = (*info)->make(header, options);
  if (!format) {
    // An error about an option keeps the option as its place.
    return format.error().file.empty() ? lines->error_here(format.error()) : format.error();
  }
  return WorkloadReader(std::make_unique<State>(State{.lines = std::move(*lines),
                                                      .info = *info,
                                                      .format = std::move(*format),
                                                      .rows = {},
                                                      .waiting = {},
                                                      .skipped = {},
                                                      .origin = {},
                                                      .line_clock = {}}));
}

Result<std::optional<WorkloadRequest>> WorkloadReader::next() {
  State& s = *state_;
  while (!s.may_give() && !s.at_end) {
    const auto line = s.lines.next();
    if (!line) return line.error();
    s.at_end = !line->has_value();
    if (s.at_end) break;
    if (Status read = s.read_line(**line); !read) return s.lines.error_here(read.error());
  }
  if (s.waiting.empty()) {
    if (s.any_given) return std::optional<WorkloadRequest>{};
    if (s.lines.line_number() == 0) return s.lines.empty_file();
    return s.lines.error_in_file(
        s.skipped.empty() ? "no request follows the header"
                          : fmt::format("every row was skipped: {}", s.skipped.front().reason),
        "give a trace with at least one request");
  }
  std::pop_heap(s.waiting.begin(), s.waiting.end(), comes_later);
  WorkloadRequest request = std::move(s.waiting.back().request);
  s.waiting.pop_back();
  s.any_given = true;
  return std::optional(std::move(request));
}

std::string_view WorkloadReader::reader() const {
  return state_->info->id;
}
std::optional<std::int64_t> WorkloadReader::block_tokens() const {
  return state_->format->block_tokens();
}
const std::vector<SkippedRows>& WorkloadReader::skipped() const {
  return state_->skipped;
}
std::string WorkloadReader::sha256() {
  return state_->lines.sha256();
}

}  // namespace sluice
