#include "base/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/names.h"

namespace sluice {

using Json = nlohmann::json;

struct JsonReader::Object {
  std::string path;  // "" for the root, else "layers[2]"
  const Json* json;  // an object, or an empty one after a fault
  std::set<std::string> asked;
};

struct JsonReader::Document {
  std::string file;
  Json root;
  Json empty = Json::object();
  std::deque<Object> objects;  // a deque: their addresses hold
  std::optional<Error> first_fault;
  // Of a first fault that is a missing key: it may be one that is misspelt.
  const Object* missing_in = nullptr;
  std::string missing_key;

  Object* add(std::string path, const Json* json) {
    return &objects.emplace_back(Object{std::move(path), json, {}});
  }
};

namespace {

std::int64_t line_of(std::string_view text, std::size_t position) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(position, text.size()));
  return 1 + std::count(text.begin(), end, '\n');
}

// nlohmann's message without its own prefix.
std::string plain_message(const Json::exception& exception) {
  const std::string message = exception.what();
  const auto colon = message.find("column");
  const auto start = colon == std::string::npos ? message.find("] ") : message.find(": ", colon);
  return start == std::string::npos ? message : message.substr(start + 2);
}

// Parses, and names the first key that stands twice in one object.
Json parse_noting_repeats(std::string_view text, std::optional<std::string>& repeated) {
  std::vector<std::set<std::string>> open;
  return Json::parse(text, [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key &&
        !open.back().insert(parsed.get<std::string>()).second && !repeated) {
      repeated = parsed.get<std::string>();
    }
    return true;
  });
}

std::string shown(const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

}  // namespace

JsonReader::JsonReader(std::shared_ptr<Document> document, Object* object)
    : document_(std::move(document)), object_(object) {}

Result<JsonReader> JsonReader::parse(std::string_view text, std::string file) {
  auto document = std::make_shared<Document>();
  std::optional<std::string> repeated;
  try {
    document->root = parse_noting_repeats(text, repeated);
  } catch (const Json::parse_error& error) {
    return error_at(file, line_of(text, error.byte), "not JSON: " + plain_message(error),
                    "correct the file");
  } catch (const Json::exception& error) {
    return error_in(file, "not JSON: " + plain_message(error), "correct the file");
  }
  if (repeated)
    return error_in(file, fmt::format("`{}` stands twice in one object", *repeated), "keep one");
  if (!document->root.is_object()) return error_in(file, "not a JSON object", "start it with `{`");
  document->file = std::move(file);
  Object* root = document->add("", &document->root);
  return JsonReader(std::move(document), root);
}

std::string JsonReader::path_of(const std::string& key) const {
  if (object_->path.empty()) return key.empty() ? "the file" : fmt::format("`{}`", key);
  return key.empty() ? fmt::format("`{}`", object_->path)
                     : fmt::format("`{}.{}`", object_->path, key);
}

void JsonReader::fail(const std::string& key, const std::string& what, const std::string& fix) {
  if (!document_->first_fault) {
    document_->first_fault =
        error_in(document_->file, fmt::format("{} {}", path_of(key), what), fix);
  }
}

bool JsonReader::has(const std::string& key) {
  object_->asked.insert(key);
  return object_->json->contains(key);
}

std::string JsonReader::optional_text(const std::string& key) {
  if (!has(key)) return {};
  const Json& value = object_->json->at(key);
  if (value.is_string()) return value.get<std::string>();
  fail(key, fmt::format("is {}, not a text", shown(value)), "write it in quotes");
  return {};
}

const Json* JsonReader::require(const std::string& key) {
  if (has(key)) return &object_->json->at(key);
  if (!document_->first_fault) {
    document_->missing_in = object_;
    document_->missing_key = key;
  }
  fail(key, "is missing", "add it");
  return nullptr;
}

std::string JsonReader::text(const std::string& key) {
  if (require(key) == nullptr) return {};
  std::string value = optional_text(key);
  if (value.empty()) fail(key, "is empty", "fill it in");
  return value;
}

std::int64_t JsonReader::integer(const std::string& key, JsonRange<std::int64_t> range) {
  const Json* value = require(key);
  if (value == nullptr) return range.low;
  const bool fits =
      value->is_number_integer() &&
      !(value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{INT64_MAX});
  const std::int64_t number = fits ? value->get<std::int64_t>() : 0;
  if (fits && number >= range.low && number <= range.high) return number;
  fail(key, fmt::format("is {}", shown(*value)),
       fmt::format("write a whole number from {} to {}", range.low, range.high));
  return range.low;
}

double JsonReader::number(const std::string& key, JsonRange<double> range) {
  const Json* value = require(key);
  if (value == nullptr) return range.low;
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (number >= range.low && number <= range.high) return number;
  fail(key, fmt::format("is {}", shown(*value)),
       fmt::format("write a number from {} to {}", range.low, range.high));
  return range.low;
}

JsonReader JsonReader::object(const std::string& key) {
  const Json* value = require(key);
  if (value != nullptr && !value->is_object()) {
    fail(key, fmt::format("is {}, not an object", shown(*value)), "write it as { … }");
    value = nullptr;
  }
  const std::string path = object_->path.empty() ? key : object_->path + "." + key;
  return {document_, document_->add(path, value != nullptr ? value : &document_->empty)};
}

std::vector<JsonReader> JsonReader::objects(const std::string& key) {
  std::vector<JsonReader> readers;
  const Json* list = require(key);
  if (list == nullptr) return readers;
  if (!list->is_array() || list->empty()) {
    fail(key, fmt::format("is {}, not a list of objects", shown(*list)), "write it as [ { … } ]");
    return readers;
  }
  const std::string path = object_->path.empty() ? key : object_->path + "." + key;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string item_path = fmt::format("{}[{}]", path, i);
    const Json* item = &(*list)[i];
    if (!item->is_object()) {
      fail(fmt::format("{}[{}]", key, i), fmt::format("is {}, not an object", shown(*item)),
           "write it as { … }");
      return readers;
    }
    readers.push_back({document_, document_->add(item_path, item)});
  }
  return readers;
}

void JsonReader::expect_format(std::string_view format) {
  const std::string found = text("format");
  if (!found.empty() && found != format) {
    fail("format", fmt::format("is `{}`", found), fmt::format("use a file of format `{}`", format));
  }
}

namespace {

std::vector<std::string> unknown_keys(const Json& object, const std::set<std::string>& known) {
  std::vector<std::string> unknown;
  for (const auto& [key, value] : object.items()) {
    if (!known.contains(key)) unknown.push_back(key);
  }
  return unknown;
}

}  // namespace

Status JsonReader::finish() const {
  const Document& document = *document_;
  const auto unknown_key = [&](const Object& object, const std::string& key,
                               const std::string& fix) {
    const std::string place = object.path.empty() ? "" : fmt::format(" in `{}`", object.path);
    return error_in(document.file, fmt::format("unknown key `{}`{}", key, place), fix);
  };
  if (document.missing_in != nullptr) {
    const auto unknown = unknown_keys(*document.missing_in->json, document.missing_in->asked);
    if (const auto misspelt = nearest_name(document.missing_key, unknown)) {
      return unknown_key(*document.missing_in, *misspelt,
                         fmt::format("did you mean `{}`?", document.missing_key));
    }
  }
  if (document.first_fault) return *document.first_fault;
  for (const Object& object : document.objects) {
    for (const std::string& key : unknown_keys(*object.json, object.asked)) {
      const std::vector<std::string> known(object.asked.begin(), object.asked.end());
      return unknown_key(object, key, suggest_name(key, known));
    }
  }
  return {};
}

Result<std::vector<std::string>> list_json_ids(const std::filesystem::path& folder) {
  std::vector<std::string> ids;
  std::error_code code;
  for (std::filesystem::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    if (entry->path().extension() == ".json") ids.push_back(entry->path().stem().string());
  }
  if (code)
    return error_in(folder.string(), "cannot be listed: " + code.message(),
                    "check that the folder exists");
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<std::filesystem::path> find_json_file(const std::filesystem::path& folder,
                                             const std::string& id, std::string_view kind) {
  const auto ids = list_json_ids(folder);
  if (!ids) return ids.error();
  if (std::binary_search(ids->begin(), ids->end(), id)) return folder / (id + ".json");
  return error_in("", fmt::format("unknown {} `{}`", kind, id), suggest_name(id, *ids));
}

}  // namespace sluice
