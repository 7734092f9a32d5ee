#include "traces/readers/text_columns.h"

namespace sluice {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

}  // namespace

std::size_t split_columns(std::string_view line, std::span<std::string_view> fields) {
  std::size_t count = 0, at = 0;
  while (true) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at == line.size()) return count;
    const std::size_t begin = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    if (count < fields.size()) fields[count] = line.substr(begin, at - begin);
    ++count;
  }
}

}  // namespace sluice
