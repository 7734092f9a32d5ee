#include "traces/readers/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sluice {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kReadBytes = 256 << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7F;
}

constexpr std::uint64_t each_byte(std::uint64_t byte) {
  return byte * 0x0101010101010101;
}

// 0x80 in each byte of the word that is zero, 0 in the others.
std::uint64_t zero_bytes(std::uint64_t word) {
  return ~(((word & each_byte(0x7F)) + each_byte(0x7F)) | word | each_byte(0x7F));
}

// is_control() of eight bytes at once.
bool has_control(std::uint64_t word) {
  const std::uint64_t tabs = zero_bytes(word ^ each_byte('\t'));
  const std::uint64_t below_blank = zero_bytes(word & each_byte(0xE0));
  const std::uint64_t deletes = zero_bytes(word ^ each_byte(0x7F));
  return ((below_blank & ~tabs) | deletes) != 0;
}

bool has_control(std::string_view text) {
  std::uint64_t word = 0;
  if (text.size() < sizeof(word)) {
    return std::any_of(text.begin(), text.end(), [](char c) { return is_control(c); });
  }
  // The last word may overlap the one before it.
  const std::size_t last = text.size() - sizeof(word);
  for (std::size_t at = 0;; at = std::min(at + sizeof(word), last)) {
    std::memcpy(&word, text.data() + at, sizeof(word));
    if (has_control(word)) return true;
    if (at == last) return false;
  }
}

}  // namespace

Result<LineReader> LineReader::open(const fs::path& path, std::size_t max_line_bytes) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) return error_in(path.string(), "no such file", "check the path");
  if (fs::is_directory(status)) return error_in(path.string(), "is a folder", "name a file");
  if (!fs::is_regular_file(status)) {
    return error_in(path.string(), "is not a regular file", "save the data to a file first");
  }
  LineReader reader;
  reader.path_ = path.string();
  reader.in_ = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*reader.in_) return error_in(path.string(), "cannot be opened", "check its permissions");
  reader.hash_ = std::make_unique<Sha256>();
  reader.max_line_bytes_ = max_line_bytes;
  return reader;
}

Status LineReader::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + kReadBytes);
  in_->read(buffer_.data() + kept, kReadBytes);
  const auto got = static_cast<std::size_t>(in_->gcount());
  buffer_.resize(kept + got);
  hash_->update(std::string_view(buffer_).substr(kept));
  if (in_->bad()) return error_in_file("reading failed", "check the disk");
  at_end_ = in_->eof();
  return {};
}

Result<std::optional<std::string_view>> LineReader::next() {
  std::size_t scanned = 0;  // bytes of the line known to hold no line end
  while (true) {
    const std::string_view rest = std::string_view(buffer_).substr(begin_);
    const std::size_t end = rest.find('\n', scanned);
    if (end != std::string_view::npos) {
      begin_ += end + 1;
      return checked(rest.substr(0, end));
    }
    scanned = rest.size();
    if (at_end_) {
      if (rest.empty()) return std::optional<std::string_view>{};
      begin_ = buffer_.size();
      return checked(rest);
    }
    if (rest.size() > max_line_bytes_) return checked(rest);
    if (Status filled = fill(); !filled) return filled.error();
  }
}

Result<std::optional<std::string_view>> LineReader::checked(std::string_view line) {
  ++line_number_;
  if (line_number_ == 1 && line.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    line.remove_prefix(kByteOrderMark.size());
  }
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const std::string_view looked_at = line.substr(0, max_line_bytes_);
  if (has_control(looked_at)) {
    const auto byte = std::find_if(looked_at.begin(), looked_at.end(), is_control);
    return error_here(fmt::format("holds binary data (byte 0x{:02x} at column {})",
                                  static_cast<unsigned char>(*byte), byte - looked_at.begin() + 1),
                      "give a text file");
  }
  if (line.size() > max_line_bytes_) {
    return error_here(fmt::format("the line is longer than {} bytes", max_line_bytes_),
                      "give one row per line");
  }
  return std::optional(line);
}

Error LineReader::error_here(std::string what, std::string fix) const {
  return error_at(path_, line_number_, std::move(what), std::move(fix));
}

Error LineReader::error_here(Error without_place) const {
  return error_here(std::move(without_place.what), std::move(without_place.fix));
}

Error LineReader::error_in_file(std::string what, std::string fix) const {
  return error_in(path_, std::move(what), std::move(fix));
}

Error LineReader::empty_file() const {
  return error_in_file("the file is empty", "give a trace with at least one row");
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kMaxBytes = 40;
  if (text.size() <= kMaxBytes) return std::string(text);
  return fmt::format("{}...", text.substr(0, kMaxBytes));
}

}  // namespace sluice
