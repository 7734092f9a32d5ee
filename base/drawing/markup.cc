#include "base/drawing/markup.h"

#include <cstdint>

#include "base/assert.h"

namespace sluice {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Length of the well-formed UTF-8 character at the front (RFC 3629: shortest form, no surrogates);
// 0 if there is none.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  std::uint32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
    code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  if (length == 3 && (code < 0x800 || (code >= 0xD800 && code < 0xE000) || code >= 0xFFFE))
    return 0;
  if (length == 4 && (code < 0x10000 || code > 0x10FFFF)) return 0;
  return length;
}

// After a block a line break keeps the page readable as text; after words it would be seen as a
// space.
std::string_view after(std::string_view tag) {
  for (const std::string_view inline_tag : {"a", "code", "span", "strong", "wbr"}) {
    if (tag == inline_tag) return "";
  }
  return "\n";
}

void append_escaped(std::string_view character, std::string& out) {
  const char c = character.front();
  if (c == '&') {
    out += "&amp;";
  } else if (c == '<') {
    out += "&lt;";
  } else if (c == '>') {
    out += "&gt;";
  } else if (c == '"') {
    out += "&quot;";
  } else if (c == '\'') {
    out += "&#39;";
  } else if (c == '\n' || c == '\t') {
    out += ' ';
  } else if (character.size() > 1 || (c >= ' ' && c != '\x7f')) {
    out += character;
  }
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      out += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    append_escaped(text.substr(0, length), out);
    text.remove_prefix(length);
  }
  return out;
}

std::string shorten(std::string_view text, std::size_t max_characters) {
  std::size_t num_characters = 0, end_of_kept = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_continuation(text[i])) continue;
    ++num_characters;
    if (num_characters == max_characters) end_of_kept = i;
  }
  if (num_characters <= max_characters) return std::string(text);
  return std::string(text.substr(0, end_of_kept)) + "…";
}

void Markup::start(std::string_view tag, Attributes attributes) {
  written_ += '<';
  written_ += tag;
  for (const Attribute& attribute : attributes) {
    written_ += ' ';
    written_ += attribute.name;
    written_ += "=\"";
    written_ += escape_markup(attribute.value);
    written_ += '"';
  }
}

Markup& Markup::open(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  written_ += '>';
  open_.emplace_back(tag);
  return *this;
}

Markup& Markup::close() {
  SLUICE_ASSERT(!open_.empty(), "an element is closed that was opened");
  written_ += "</" + open_.back() + ">";
  written_ += after(open_.back());
  open_.pop_back();
  return *this;
}

Markup& Markup::text(std::string_view text) {
  written_ += escape_markup(text);
  return *this;
}

Markup& Markup::leaf(std::string_view tag, Attributes attributes, std::string_view content) {
  start(tag, attributes);
  written_ += '>';
  text(content);
  written_ += "</";
  written_ += tag;
  written_ += '>';
  written_ += after(tag);
  return *this;
}

Markup& Markup::name(std::string_view whole) {
  while (!whole.empty()) {
    const std::size_t joint = whole.find_first_of(":,@=/");
    const std::string_view part =
        whole.substr(0, joint == std::string_view::npos ? joint : joint + 1);
    text(part);
    whole.remove_prefix(part.size());
    if (!whole.empty()) empty("wbr");
  }
  return *this;
}

Markup& Markup::empty(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  written_ += "/>";
  written_ += after(tag);
  return *this;
}

Markup& Markup::add(std::string_view markup) {
  written_ += markup;
  return *this;
}

std::string Markup::take() {
  SLUICE_ASSERT(open_.empty(), "every element is closed");
  return std::move(written_);
}

}  // namespace sluice
