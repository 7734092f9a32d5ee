// Columns separated by tabs and blanks, without a header.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sluice {

// The first fields of the line, as many as `fields` has room for, and how many there are in all.
// The views point into `line`.
std::size_t split_columns(std::string_view line, std::span<std::string_view> fields);

}  // namespace sluice
