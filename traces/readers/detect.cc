// Which reader a file asks for: by the shape of its first line, and by its extension where that
// says something.
// Surprise: when the two disagree the answer is an error that asks, not a guess.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "traces/read.h"
#include "traces/readers/line_reader.h"

namespace sluice {
namespace {

struct Extension {
  std::string_view extension, reader;
};
constexpr std::array kExtensions{
    Extension{".up", "mahimahi"},    Extension{".down", "mahimahi"}, Extension{".mahi", "mahimahi"},
    Extension{".jsonl", "cachegen"}, Extension{".json", "cachegen"}, Extension{".csv", "csv"},
};

bool starts_like_number(std::string_view text) {
  return !text.empty() &&
         std::string_view("0123456789-.").find(text.front()) != std::string_view::npos;
}

std::size_t count_fields(std::string_view line) {
  std::size_t count = 0;
  for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos; ++count) {
    at = line.find_first_not_of(" \t", line.find_first_of(" \t", at));
  }
  return count;
}

bool is_whole(std::string_view text) {
  return text.find_first_not_of("0123456789-") == std::string_view::npos;
}

std::optional<Detection> by_shape(std::string_view line) {
  const std::string_view text = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t num_fields = count_fields(line);
  if (text.substr(0, 1) == "{") {
    if (text.find("\"bw\"") == std::string_view::npos) return std::nullopt;
    return Detection{"cachegen", R"(its first line is JSON with "bw")"};
  }
  if (text.find(',') != std::string_view::npos)
    return Detection{"csv", "its first line has commas"};
  if (!starts_like_number(text)) return std::nullopt;
  if (num_fields == 1 && is_whole(text))
    return Detection{"mahimahi", "its first line is one whole number"};
  if (num_fields == 2)
    return Detection{"two-column", "its first line is two columns without a header"};
  return std::nullopt;
}

}  // namespace

Result<Detection> detect_reader(const std::filesystem::path& path) {
  Result<LineReader> opened = LineReader::open(path, kMaxJsonLineBytes);
  if (!opened) return opened.error();
  LineReader& lines = *opened;
  std::string first;
  while (first.find_first_not_of(" \t") == std::string::npos) {
    const auto line = lines.next();
    if (!line) return line.error();
    if (!*line && lines.line_number() == 0) return lines.empty_file();
    if (!*line)
      return lines.error_in_file("the file holds blank lines only",
                                 "give a trace with at least one row");
    first = std::string(**line);
  }
  std::optional<Detection> shape = by_shape(first);
  if (!shape) {
    return lines.error_here(fmt::format("no reader fits a line such as `{}`", excerpt(first)),
                            "choose with --reader; `./sluice trace list` shows them");
  }
  const std::string extension = path.extension().string();
  for (const Extension& known : kExtensions) {
    if (known.extension != extension || known.reader == shape->reader) continue;
    return lines.error_in_file(
        fmt::format("{}, as `{}` files have, but {} files end in `{}`", shape->why, shape->reader,
                    known.reader, extension),
        fmt::format("say which with --reader {} or --reader {}", shape->reader, known.reader));
  }
  return *shape;
}

}  // namespace sluice
