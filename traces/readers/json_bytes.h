// The bytes of a JSON file that spans lines, for a parser that takes them one by one.
// Where in the flow: under the sabre reader. CacheGen's lines are each a document of their own.
// Surprise: it reads no further than the parser, so line_number() is right when a callback fails.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include "traces/readers/line_reader.h"

namespace sluice {

class JsonBytes {
 public:
  explicit JsonBytes(LineReader& lines) : lines_(&lines) {}

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    Iterator() = default;
    explicit Iterator(JsonBytes* bytes) : bytes_(bytes) {}
    char operator*() const { return bytes_->current(); }
    Iterator& operator++() {
      ++bytes_->at_;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(const Iterator& other) const { return at_end() == other.at_end(); }

   private:
    [[nodiscard]] bool at_end() const { return bytes_ == nullptr || bytes_->at_end(); }

    JsonBytes* bytes_ = nullptr;  // nullptr: the end
  };
  [[nodiscard]] Iterator begin() { return Iterator(this); }
  [[nodiscard]] static Iterator end() { return {}; }

  // What is wrong with the file itself, which then ends for the parser.
  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }

 private:
  [[nodiscard]] char current() const { return at_ < line_.size() ? line_[at_] : '\n'; }
  // Takes the next line when this one and its line feed are used up.
  [[nodiscard]] bool at_end() {
    if (done_) return true;
    if (begun_ && at_ <= line_.size()) return false;
    begun_ = true;
    const auto line = lines_->next();
    if (!line) fault_ = line.error();
    done_ = !line || !*line;
    if (done_) return true;
    line_ = **line;
    at_ = 0;
    return false;
  }

  LineReader* lines_;
  std::string_view line_;
  std::size_t at_ = 0;
  bool begun_ = false, done_ = false;
  std::optional<Error> fault_;
};

}  // namespace sluice
