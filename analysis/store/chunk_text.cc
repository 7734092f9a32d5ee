#include "analysis/store/chunk_text.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "analysis/store/codes.h"

namespace sluice {
namespace {

constexpr std::size_t kNumbers = 12;        // of a chunk
constexpr std::size_t kLongestNumber = 32;  // characters, comma included

// Writes into a buffer that is large enough for a chunk.
class Writer {
 public:
  explicit Writer(char* at) : at_(at) {}
  void put(char one) { *at_++ = one; }
  template <typename Number>
  void number(Number value) {
    at_ = std::to_chars(at_, at_ + kLongestNumber, value).ptr;
  }
  template <typename Number>
  void field(Number value) {
    number(value);
    put(',');
  }
  // Modulo 2^64, so that any two instants come back as they were.
  void instant(const std::optional<Instant>& at, Instant load_arrived) {
    if (at) {
      return number(static_cast<std::int64_t>(static_cast<std::uint64_t>(to_ns(*at)) -
                                              static_cast<std::uint64_t>(to_ns(load_arrived))));
    }
    for (const char letter : {'n', 'u', 'l', 'l'}) put(letter);
  }
  [[nodiscard]] char* at() const { return at_; }

 private:
  char* at_;
};

// Reads exactly what append_chunk() writes: no spaces, no other order.
class Reader {
 public:
  Reader(std::string_view text, Instant load_arrived)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()), arrived_(load_arrived) {}

  bool take(char wanted) {
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }
  template <typename Number>
  bool number(Number& value) {
    const auto [after, code] = std::from_chars(at_, end_, value);
    if (code != std::errc{}) return false;
    at_ = after;
    return true;
  }
  bool integer(std::int64_t& value) { return number(value) && take(','); }
  bool instant(std::optional<Instant>& at) {
    constexpr std::string_view kNull = "null";
    if (std::string_view(at_, end_).starts_with(kNull)) {
      at_ += kNull.size();
      at.reset();
      return true;
    }
    std::int64_t since = 0;
    if (!number(since)) return false;
    at = at_ns(static_cast<std::int64_t>(static_cast<std::uint64_t>(to_ns(arrived_)) +
                                         static_cast<std::uint64_t>(since)));
    return true;
  }
  bool chunk(StoredChunk& chunk);
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] std::ptrdiff_t position() const { return at_ - begin_; }

 private:
  const char *begin_, *at_, *end_;
  Instant arrived_;
};

bool Reader::chunk(StoredChunk& chunk) {
  ChunkRecord& record = chunk.record;
  std::int64_t index = 0, action = 0, bytes = 0;
  const bool is_read =
      take('[') && integer(index) && integer(record.tokens) && integer(action) &&
      integer(chunk.level_id) && integer(bytes) && number(record.damage) && take(',') &&
      integer(chunk.reason_id) && instant(record.requested_at) && take(',') &&
      instant(record.first_byte_at) && take(',') && instant(record.arrived_at) && take(',') &&
      instant(record.compute_began_at) && take(',') && instant(record.resident_at) && take(']');
  if (!is_read || index < 0 || index > std::numeric_limits<std::int32_t>::max()) return false;
  record.index = static_cast<std::int32_t>(index);
  record.action = chunk_action_from(action);
  record.bytes = DataSize::bytes(bytes);
  return true;
}

}  // namespace

void append_chunk(std::string& text, const ChunkRecord& chunk, std::int64_t level_id,
                  std::int64_t reason_id, Instant load_arrived) {
  char buffer[kNumbers * kLongestNumber + 2];
  Writer writer(buffer);
  writer.put('[');
  writer.field(chunk.index);
  writer.field(chunk.tokens);
  writer.field(code_of(chunk.action));
  writer.field(level_id);
  writer.field(chunk.bytes.bytes());
  writer.field(chunk.damage);
  writer.field(reason_id);
  for (const auto* at :
       {&chunk.requested_at, &chunk.first_byte_at, &chunk.arrived_at, &chunk.compute_began_at}) {
    writer.instant(*at, load_arrived);
    writer.put(',');
  }
  writer.instant(chunk.resident_at, load_arrived);
  writer.put(']');
  text.append(buffer, writer.at());
}

Status parse_chunks(std::string_view text, Instant load_arrived, std::vector<StoredChunk>& chunks) {
  chunks.clear();
  Reader reader(text, load_arrived);
  bool is_read = reader.take('[');
  if (is_read && reader.take(']') && reader.at_end()) return {};
  while (is_read) {
    is_read = reader.chunk(chunks.emplace_back());
    if (is_read && reader.take(']') && reader.at_end()) return {};
    is_read = is_read && reader.take(',');
  }
  return error_in("", fmt::format("its chunks are damaged at character {}", reader.position() + 1),
                  "use a copy of the file, or run the scenario again into a new one");
}

}  // namespace sluice
