#include "traces/readers/text_columns.h"

#include <algorithm>

namespace sluice {

std::size_t split_columns(std::string_view line, std::span<std::string_view> fields) {
  std::size_t count = 0;
  std::size_t at = line.find_first_not_of(" \t");
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    if (count < fields.size()) fields[count] = line.substr(at, end - at);
    ++count;
    at = line.find_first_not_of(" \t", end);
  }
  return count;
}

}  // namespace sluice
