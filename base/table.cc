#include "base/table.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "base/names.h"

namespace sluice {
namespace {

// Width on a terminal: code points, not bytes.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void print_padded(std::ostream& out, const std::string& text, std::size_t width, Align align,
                  bool last) {
  const std::string gap(width - std::min(width, width_of(text)), ' ');
  if (align == Align::kRight) {
    out << gap << text;
  } else {
    out << text << (last ? "" : gap);
  }
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

Result<TableFormat> parse_table_format(std::string_view text) {
  if (text == "table") return TableFormat::kTable;
  if (text == "csv") return TableFormat::kCsv;
  if (text == "json") return TableFormat::kJson;
  static const std::array<std::string, 3> kKnown{"table", "csv", "json"};
  return error_in("--format", "unknown format `" + std::string(text) + "`",
                  suggest_name(text, kKnown));
}

Table& Table::column(std::string key, std::string title, Align align) {
  columns_.push_back({std::move(key), std::move(title), align});
  return *this;
}

Table& Table::row(std::vector<Cell> cells) {
  SLUICE_ASSERT(cells.size() == columns_.size(), "a row needs one cell per column");
  rows_.push_back(std::move(cells));
  return *this;
}

Table& Table::note(std::string line) {
  notes_.push_back(std::move(line));
  return *this;
}

void Table::print_text(std::ostream& out) const {
  std::vector<std::size_t> widths, shown;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = width_of(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, width_of(row[c].shown));
    widths.push_back(width);
    if (!columns_[c].title.empty()) shown.push_back(c);
  }
  const auto print_line = [&](auto text_of) {
    for (const std::size_t c : shown) {
      if (c != shown.front()) out << "  ";
      print_padded(out, text_of(c), widths[c], columns_[c].align, c == shown.back());
    }
    out << '\n';
  };
  print_line([&](std::size_t c) { return columns_[c].title; });
  print_line([&](std::size_t c) { return std::string(widths[c], '-'); });
  for (const auto& row : rows_) print_line([&](std::size_t c) { return row[c].shown; });
  for (const std::string& line : notes_) out << line << '\n';
}

void Table::print_csv(std::ostream& out) const {
  const auto print_line = [&](auto field_of) {
    const char* separator = "";
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].key.empty()) continue;
      out << separator << csv_field(field_of(c));
      separator = ",";
    }
    out << '\n';
  };
  print_line([&](std::size_t c) { return columns_[c].key; });
  for (const auto& row : rows_) print_line([&](std::size_t c) { return row[c].raw; });
}

void print_as(TableFormat format, const Table& table, const nlohmann::json& json,
              std::ostream& out) {
  switch (format) {
    case TableFormat::kTable:
      table.print_text(out);
      break;
    case TableFormat::kCsv:
      table.print_csv(out);
      break;
    case TableFormat::kJson:
      out << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
      break;
  }
}

}  // namespace sluice
