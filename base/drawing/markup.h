// Writes HTML and SVG whose text is escaped and whose elements are closed, by construction.
// Where in the flow: under everything in this folder; nothing else here writes a `<`.
// Surprise: names come from files of strangers: bytes that are no UTF-8 become U+FFFD, control
// characters are dropped.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Safe as text and inside a quoted attribute.
[[nodiscard]] std::string escape_markup(std::string_view text);

// The first `max_characters` code points; what is cut off is replaced by "…" within that length.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t max_characters);

struct Attribute {
  std::string_view name;
  std::string value;
};

class Markup {
 public:
  using Attributes = std::initializer_list<Attribute>;

  Markup& open(std::string_view tag, Attributes attributes = {});
  Markup& close();
  Markup& text(std::string_view text);
  // A name such as "fixed:level=int8@token", which may be broken into lines at its joints.
  Markup& name(std::string_view name);
  // An element with nothing but text inside.
  Markup& leaf(std::string_view tag, Attributes attributes, std::string_view text);
  Markup& leaf(std::string_view tag, std::string_view text) { return leaf(tag, {}, text); }
  // An element without content: void HTML elements and SVG shapes.
  Markup& empty(std::string_view tag, Attributes attributes = {});
  // What another Markup has written.
  Markup& add(std::string_view markup);
  // Every element must be closed by now.
  [[nodiscard]] std::string take();

 private:
  void start(std::string_view tag, Attributes attributes);

  std::string written_;
  std::vector<std::string> open_;
};

}  // namespace sluice
