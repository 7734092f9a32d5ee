// One table, three dresses: aligned text for people, CSV, JSON. Every command that prints a table
// uses it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice {

enum class TableFormat { kTable, kCsv, kJson };

// "table", "csv" or "json".
[[nodiscard]] Result<TableFormat> parse_table_format(std::string_view text);

enum class Align { kLeft, kRight };

class Table {
 public:
  // `key` is the column's name in CSV; `title` its heading for people (unit included).
  // An empty key keeps the column out of CSV, an empty title out of the text.
  Table& column(std::string key, std::string title, Align align = Align::kRight);
  // `shown` is for people, `raw` for CSV (full precision, no unit, empty when absent).
  struct Cell {
    std::string shown;
    std::string raw;
    Cell(std::string both) : shown(both), raw(std::move(both)) {}  // NOLINT: implicit on purpose
    Cell(const char* both) : Cell(std::string(both)) {}            // NOLINT: implicit on purpose
    Cell(std::string shown_text, std::string raw_text)
        : shown(std::move(shown_text)), raw(std::move(raw_text)) {}
  };
  // One cell per column.
  Table& row(std::vector<Cell> cells);
  // A line below the table, for people only.
  Table& note(std::string line);
  void print_text(std::ostream& out) const;
  // RFC 4180 quoting (quotes doubled; a field with comma, quote or line break quoted), lines end
  // with \n.
  void print_csv(std::ostream& out) const;

 private:
  struct Column {
    std::string key, title;
    Align align;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::string> notes_;
};

// One CSV field, quoted where RFC 4180 asks for it.
[[nodiscard]] std::string csv_field(const std::string& text);

// Prints `table` as text or CSV, or `json` (indented) when asked for JSON.
void print_as(TableFormat format, const Table& table, const nlohmann::json& json,
              std::ostream& out);

}  // namespace sluice
