#include "base/result.h"

#include <algorithm>

namespace sluice {

std::string Error::to_line() const {
  std::string out = "error: ";
  if (!file.empty()) {
    out += file;
    if (line) out += ":" + std::to_string(*line);
    out += ": ";
  }
  out += what;
  if (!fix.empty()) out += "; " + fix;
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return out;
}

Error error_in(std::string file, std::string what, std::string fix) {
  return Error{std::move(file), std::nullopt, std::move(what), std::move(fix)};
}

Error error_at(std::string file, std::int64_t line, std::string what, std::string fix) {
  return Error{std::move(file), line, std::move(what), std::move(fix)};
}

}  // namespace sluice
