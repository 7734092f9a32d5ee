#include "base/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

// Length of the UTF-8 sequence that starts here, 0 where there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80                      ? 1
                             : byte(0) >= 0xc2 && byte(0) < 0xe0 ? 2
                             : byte(0) >= 0xe0 && byte(0) < 0xf0 ? 3
                             : byte(0) >= 0xf0 && byte(0) < 0xf5 ? 4
                                                                 : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (byte(0) == 0xc2 && byte(1) < 0xa0) return 0;  // the control characters beyond ASCII
  return length;
}

// Parts of untrusted files stand in errors: what could steer a terminal is spelt out as \x1b.
std::string on_one_line(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = sequence_length(text);
    if (first == '\n' || first == '\r' || first == '\t') {
      out += ' ';
    } else if (length == 0 || first < 0x20 || first == 0x7f) {
      out += fmt::format("\\x{:02x}", first);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace

std::string Error::to_line() const {
  std::string out = "error: ";
  if (!file.empty()) {
    out += file;
    if (line) out += ":" + std::to_string(*line);
    out += ": ";
  }
  out += what;
  if (!fix.empty()) out += "; " + fix;
  return on_one_line(out);
}

Error error_in(std::string file, std::string what, std::string fix) {
  return Error{std::move(file), std::nullopt, std::move(what), std::move(fix)};
}

Error error_at(std::string file, std::int64_t line, std::string what, std::string fix) {
  return Error{std::move(file), line, std::move(what), std::move(fix)};
}

}  // namespace sluice
