// The lines of an untrusted text file, one at a time, with the hash of all its bytes.
// Where in the flow: under every reader of traces/.
// Surprise: binary data and lines beyond the limit are errors here, so readers see short, printable
// text only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sha256.h"

namespace sluice {

inline constexpr std::size_t kMaxLineBytes = 64 << 10;      // text columns
inline constexpr std::size_t kMaxJsonLineBytes = 16 << 20;  // a whole trace on one line

class LineReader {
 public:
  // Refuses a missing or unreadable file and whatever is not a regular file.
  [[nodiscard]] static Result<LineReader> open(const std::filesystem::path& path,
                                               std::size_t max_line_bytes = kMaxLineBytes);

  // The next line without its end (\n or \r\n; a byte order mark is dropped), nullopt after the
  // last. The view is good until the next call.
  [[nodiscard]] Result<std::optional<std::string_view>> next();

  // Of the last line given, 1-based.
  [[nodiscard]] std::int64_t line_number() const { return line_number_; }
  // SHA-256 of the file's bytes; call once, after next() gave nullopt.
  [[nodiscard]] std::string sha256() { return hash_->hex(); }

  // Errors at the last line given, and about the file as a whole.
  [[nodiscard]] Error error_here(std::string what, std::string fix) const;
  [[nodiscard]] Error error_here(Error without_place) const;
  [[nodiscard]] Error error_in_file(std::string what, std::string fix) const;
  // "FILE is empty", for readers that met no line.
  [[nodiscard]] Error empty_file() const;

 private:
  LineReader() = default;
  [[nodiscard]] Status fill();
  [[nodiscard]] Result<std::optional<std::string_view>> checked(std::string_view line);

  std::string path_;
  std::unique_ptr<std::ifstream> in_;
  std::unique_ptr<Sha256> hash_;
  // Bytes read and not yet given start at begin_. It is filled in large blocks, so it lies on the
  // heap and a line given is good when the reader moves.
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t max_line_bytes_ = kMaxLineBytes;
  std::int64_t line_number_ = 0;
  bool at_end_ = false;
};

// For error texts: at most 40 characters of what stands in the file.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace sluice
