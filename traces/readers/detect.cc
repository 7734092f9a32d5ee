// Which reader a file asks for: by the shape of its first line or the names in its header, and by
// its extension where that says something.
// Surprise: when the two disagree the answer is an error that asks, not a guess.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "traces/date_time.h"
#include "traces/read.h"
#include "traces/readers/csv_header.h"
#include "traces/readers/line_reader.h"
#include "traces/readers/numbers.h"
#include "traces/readers/text_columns.h"

namespace sluice {
namespace {

struct Extension {
  std::string_view extension;
  std::array<std::string_view, 8> readers;  // the first is the usual one
};
constexpr std::array kExtensions{
    Extension{".up", {"mahimahi"}},
    Extension{".down", {"mahimahi"}},
    Extension{".mahi", {"mahimahi"}},
    Extension{".jsonl", {"cachegen"}},
    Extension{".json", {"cachegen", "sabre"}},
    Extension{
        ".csv",
        {"csv", "raca", "5gophers", "lumos5g-raw", "nyu-mets", "starlink", "fcc-mba", "puffer"}},
};

// Headers of published files: a file that has all the columns is of that kind.
struct Header {
  std::string_view reader;
  std::array<std::string_view, 3> columns;
};
constexpr std::array kHeaders{
    Header{"raca", {"Timestamp", "DL_bitrate", "UL_bitrate"}},
    Header{"lumos5g-raw", {"run_num", "Throughput", "trajectory_direction"}},
    Header{"5gophers", {"carrier", "server_location", "rtt_ms"}},
    Header{"5gophers", {"carrier", "seq_num", "throughput_mbps"}},
    Header{"5gophers", {"protocol", "num_tcp_conn", "seq_num"}},
    Header{"starlink", {"timestamp_start_dl", "download", "upload"}},
    Header{"fcc-mba", {"unit_id", "dtime", "bytes_sec"}},
    Header{"puffer", {"session_id", "index", "video_ts"}},
};

// Headers of files that are measurements of links, and no link traces.
struct NoTrace {
  std::array<std::string_view, 3> columns;
  std::string_view what, fix;
};
constexpr std::array kNoTraces{
    NoTrace{{"src_region", "dst_region", "throughput_sent"},
            "a matrix of one rate per pair of regions has no times, so it is no link trace",
            "make a constant of the rate that you mean with `./sluice trace synth constant`"},
};

bool has_all(std::span<const std::string_view> names, std::span<const std::string_view> wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](std::string_view name) {
    return name.empty() || std::find(names.begin(), names.end(), name) != names.end();
  });
}

bool is_whole(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789-") == std::string_view::npos;
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::string_view("0123456789-.").find(text.front()) != std::string_view::npos;
}

std::optional<Detection> by_json(std::string_view text) {
  if (text.front() == '[') return Detection{"sabre", "it begins with a JSON list"};
  if (text.find("\"bw\"") != std::string_view::npos)
    return Detection{"cachegen", R"(its first line is JSON with "bw")"};
  return std::nullopt;
}

Result<Detection> by_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  (void)split_csv(line, fields);  // the reader says what is wrong with quotes
  for (const NoTrace& no : kNoTraces) {
    if (has_all(fields, no.columns)) return error_in("", std::string(no.what), std::string(no.fix));
  }
  for (const Header& header : kHeaders) {
    if (!has_all(fields, header.columns)) continue;
    return Detection{std::string(header.reader),
                     fmt::format("its header has `{}`, `{}` and `{}`", header.columns[0],
                                 header.columns[1], header.columns[2])};
  }
  if (fields.size() == 2 && is_number(fields[0]) &&
      fields[1].find("/sec") != std::string_view::npos)
    return Detection{"nyu-mets", "its first line is a number and its unit"};
  if (fields.size() > 6 && is_whole(fields[0]) && read_date_time(fields[1]).ok())
    return Detection{"fcc-mba", "its first line is a unit's number and a date, without a header"};
  return Detection{"csv", "its first line has commas"};
}

// Columns of numbers; without a header there is nothing else to go by.
std::optional<Detection> by_columns(std::string_view line) {
  std::array<std::string_view, 6> fields;
  const std::size_t num_fields = split_columns(line, fields);
  const auto shown = std::span(fields).first(std::min(num_fields, fields.size()));
  if (shown.empty() || !is_number(fields[0])) return std::nullopt;
  if (num_fields == 1 && is_whole(fields[0]))
    return Detection{"mahimahi", "its first line is one whole number"};
  if (num_fields == 2)
    return Detection{"two-column", "its first line is two columns without a header"};
  if (num_fields == 4 && fields[2].ends_with("ms"))
    return Detection{"spark", "its first line has a third column in ms and a fourth"};
  if (num_fields >= 3 && std::all_of(shown.begin(), shown.end(), is_whole) &&
      read_whole(fields[0]).value < kMsSince1970Min / 1000) {
    return Detection{"cellreplay", "its first line is three and more whole numbers"};
  }
  if (num_fields != 6 || !is_whole(fields[0]) || !is_whole(fields[1])) return std::nullopt;
  if (read_whole(fields[0]).value >= kMsSince1970Min)
    return Detection{"ghent", "its first line has six columns, the first in ms since 1970"};
  return Detection{"hsdpa", "its first line has six columns, the first in s since 1970"};
}

// An error without a place when nothing fits.
Result<Detection> by_shape(std::string_view line) {
  const std::string_view text = line.substr(line.find_first_not_of(" \t"));
  std::optional<Detection> found;
  if (text.front() == '{' || text.front() == '[') {
    found = by_json(text);
  } else if (text.find(',') != std::string_view::npos) {
    return by_fields(text);
  } else {
    found = by_columns(text);
  }
  if (found) return *found;
  return error_in("", fmt::format("no reader fits a line such as `{}`", excerpt(line)),
                  "choose with --reader; `./sluice trace list` shows them");
}

// The first line that is not blank.
Result<std::string> first_line(LineReader& lines) {
  while (true) {
    const auto line = lines.next();
    if (!line) return line.error();
    if (!*line && lines.line_number() == 0) return lines.empty_file();
    if (!*line)
      return lines.error_in_file("the file holds blank lines only",
                                 "give a trace with at least one row");
    if ((*line)->find_first_not_of(" \t") != std::string_view::npos) return std::string(**line);
  }
}

}  // namespace

Result<Detection> detect_reader(const std::filesystem::path& path) {
  Result<LineReader> opened = LineReader::open(path, kMaxJsonLineBytes);
  if (!opened) return opened.error();
  LineReader& lines = *opened;
  const Result<std::string> first = first_line(lines);
  if (!first) return first.error();
  Result<Detection> shape = by_shape(*first);
  if (!shape) return lines.error_here(shape.error());
  const std::string extension = path.extension().string();
  for (const Extension& known : kExtensions) {
    if (known.extension != extension) continue;
    const auto& fitting = known.readers;
    if (std::find(fitting.begin(), fitting.end(), shape->reader) != fitting.end()) continue;
    return lines.error_in_file(
        fmt::format("{}, as `{}` files have, but {} files end in `{}`", shape->why, shape->reader,
                    fitting.front(), extension),
        fmt::format("say which with --reader {} or --reader {}", shape->reader, fitting.front()));
  }
  return shape;
}

}  // namespace sluice
