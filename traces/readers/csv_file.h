// A CSV file row by row, its columns found by the names in the header.
// Where in the flow: under the readers of published CSV files, whose columns come in any order and
// number.
// Surprise: every row must have as many fields as the header; what a reader has no use for may hold
// anything.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "traces/readers/line_reader.h"

namespace sluice {

class CsvFile {
 public:
  // Reads the header. Errors have their place, as those of all functions here.
  [[nodiscard]] static Result<CsvFile> open(const std::filesystem::path& path);
  // The same for files that may lack one: names_without_header(first line) says the columns' names
  // when that line is a row, and nothing when it is a header. Rows may have more fields than such
  // names.
  [[nodiscard]] static Result<CsvFile> open(
      const std::filesystem::path& path,
      std::string_view (*names_without_header)(std::string_view first_line));

  [[nodiscard]] const std::vector<std::string_view>& names() const { return names_; }
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  // An error when the header has no such column, or two.
  [[nodiscard]] Result<std::size_t> column(std::string_view name) const;

  // The next row; false after the last.
  [[nodiscard]] Result<bool> next();
  [[nodiscard]] std::string_view operator[](std::size_t column) const { return fields_[column]; }
  // The row as it stands in the file, good until next().
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] std::int64_t num_rows() const { return num_rows_; }

  // Of the file; call once, after next() gave false.
  [[nodiscard]] std::string sha256() { return lines_.sha256(); }
  [[nodiscard]] Error error_in_file(std::string what, std::string fix) const {
    return lines_.error_in_file(std::move(what), std::move(fix));
  }
  // "no row follows the header"
  [[nodiscard]] Error no_rows() const {
    return error_in_file("no row follows the header", "give a trace with at least one row");
  }
  // `error` about this row, or about an option, which keeps its own place.
  [[nodiscard]] Error place(Error error) const;

 private:
  explicit CsvFile(LineReader lines) : lines_(std::move(lines)) {}
  [[nodiscard]] Status take_names(std::string_view header);

  LineReader lines_;
  std::unique_ptr<std::string> header_;  // names_ point into it
  std::vector<std::string_view> names_;
  bool more_fields_allowed_ = false;
  bool line_waits_ = false;  // line_ is a row that next() has not given yet
  std::string_view line_;
  std::vector<std::string_view> fields_;
  std::int64_t num_rows_ = 0;
};

}  // namespace sluice
