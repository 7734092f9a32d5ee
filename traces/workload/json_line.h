// One line of a JSON Lines file: an object of numbers, texts, lists of ids, and one level of
// objects in a list; nothing deeper, nothing unknown.
// Where in the flow: the workload formats in JSON.
// Surprise: read event by event, so that neither nesting nor an unknown key costs memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

enum class JsonKind { kNumber, kText, kIds, kObjects };

struct JsonKey {
  std::string_view name;
  JsonKind kind;
  std::span<const JsonKey> inner = {};  // of kObjects: the keys of its objects, none of that kind
};

struct JsonObject;

struct JsonField {
  bool given = false;
  std::string text;                 // kNumber: as it is written; kText
  std::vector<std::uint64_t> ids;   // kIds: whole numbers from zero to 2^64 - 1
  std::vector<JsonObject> objects;  // kObjects
};

struct JsonObject {
  std::vector<JsonField> fields;  // one per key, in the order of the keys
};

// The error names the key and has no place. At most 100 000 objects in a list.
[[nodiscard]] Result<JsonObject> read_json_line(std::string_view line,
                                                std::span<const JsonKey> keys);

// Whether a line is an object that has this key, by its text: a cheap look, for detection.
[[nodiscard]] bool names_key(std::string_view line, std::string_view key);

}  // namespace sluice
