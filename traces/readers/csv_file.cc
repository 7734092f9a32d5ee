#include "traces/readers/csv_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/readers/csv_header.h"

namespace sluice {
namespace {

std::string_view expect_header(std::string_view) {
  return {};
}

}  // namespace

Result<CsvFile> CsvFile::open(const std::filesystem::path& path) {
  return open(path, expect_header);
}

Result<CsvFile> CsvFile::open(const std::filesystem::path& path,
                              std::string_view (*names_without_header)(std::string_view)) {
  Result<LineReader> opened = LineReader::open(path);
  if (!opened) return opened.error();
  CsvFile file(std::move(*opened));
  const auto first = file.lines_.next();
  if (!first) return first.error();
  if (!*first) return file.lines_.empty_file();
  const std::string_view names = names_without_header(**first);
  if (Status taken = file.take_names(names.empty() ? **first : names); !taken)
    return file.lines_.error_here(taken.error());
  if (!names.empty()) {
    file.more_fields_allowed_ = true;
    file.line_waits_ = true;
    file.line_ = **first;
  }
  return file;
}

Status CsvFile::take_names(std::string_view header) {
  header_ = std::make_unique<std::string>(header);
  if (!split_csv(*header_, names_))
    return error_in("", "a quote is not closed", "close it on the same line");
  return {};
}

std::optional<std::size_t> CsvFile::find(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

Result<std::size_t> CsvFile::column(std::string_view name) const {
  Result<std::size_t> index = named_column(names_, name);
  if (!index) return lines_.error_in_file(index.error().what, index.error().fix);
  return index;
}

Result<bool> CsvFile::next() {
  if (!line_waits_) {
    const auto line = lines_.next();
    if (!line) return line.error();
    if (!*line) return false;
    line_ = **line;
  }
  line_waits_ = false;
  if (line_.empty()) return lines_.error_here("the line is empty", "delete it");
  if (!split_csv(line_, fields_))
    return lines_.error_here("a quote is not closed", "close it on the same line");
  const bool fits =
      fields_.size() == names_.size() || (more_fields_allowed_ && fields_.size() > names_.size());
  if (!fits) {
    return lines_.error_here(fmt::format("{} columns instead of {}", fields_.size(), names_.size()),
                             "give each row one value per column");
  }
  ++num_rows_;
  return true;
}

Error CsvFile::place(Error error) const {
  return error.file.empty() ? lines_.error_here(std::move(error)) : error;
}

}  // namespace sluice
