// Names of parameterised tests: GoogleTest takes letters, digits and underscores only.
#pragma once

#include <cctype>
#include <string>

namespace sluice {

[[nodiscard]] inline std::string test_name(std::string text) {
  for (char& c : text) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return text;
}

}  // namespace sluice
