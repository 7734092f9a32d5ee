#include "traces/workload/json_line.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/names.h"
#include "traces/readers/line_reader.h"

namespace sluice {
namespace {

constexpr std::size_t kMaxObjects = 100'000;  // an empty one costs memory, but three bytes of text

const char* words_for(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNumber:
      return "a number";
    case JsonKind::kText:
      return "a text";
    case JsonKind::kIds:
      return "a list of whole numbers";
    case JsonKind::kObjects:
      return "a list of objects";
  }
  return "";
}

// Each callback refuses what is out of place, so depth never passes two objects.
class LineHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit LineHandler(std::span<const JsonKey> keys) : keys_(keys) {}

  JsonObject object;
  std::optional<Error> fault;
  [[nodiscard]] bool complete() const { return begun_ && !key_ && !open_inner_ && closed_; }

  bool number_unsigned(number_unsigned_t value) override {
    if (in_ids_) {
      field().ids.push_back(value);
      return true;
    }
    return scalar(JsonKind::kNumber, std::to_string(value));
  }
  bool number_integer(number_integer_t value) override {
    return in_ids_ ? bad_id(std::to_string(value))
                   : scalar(JsonKind::kNumber, std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return in_ids_ ? bad_id(text) : scalar(JsonKind::kNumber, text);
  }
  bool string(string_t& text) override {
    return in_ids_ ? bad_id(text) : scalar(JsonKind::kText, text);
  }
  bool null() override { return scalar_of_no_kind("null"); }
  bool boolean(bool value) override { return scalar_of_no_kind(value ? "true" : "false"); }
  bool binary(binary_t&) override { return scalar_of_no_kind("binary data"); }

  bool start_object(std::size_t) override {
    if (!begun_) {
      begun_ = true;
      object.fields.resize(keys_.size());
      return true;
    }
    if (!in_objects_ || open_inner_) return misplaced("an object");
    if (list().size() >= kMaxObjects)
      return refuse(fmt::format("`{}` holds more than {} objects", key_->name, kMaxObjects),
                    "split it");
    list().emplace_back().fields.resize(key_->inner.size());
    open_inner_ = true;
    return true;
  }
  bool end_object() override {
    if (open_inner_) {
      open_inner_ = false;
    } else {
      closed_ = true;
    }
    return true;
  }
  bool key(string_t& name) override {
    const std::span<const JsonKey> known = open_inner_ ? key_->inner : keys_;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i].name != name) continue;
      (open_inner_ ? inner_key_ : key_) = &known[i];
      (open_inner_ ? inner_index_ : index_) = i;
      if (field().given) return refuse(fmt::format("the key `{}` stands twice", name), "keep one");
      return true;
    }
    std::vector<std::string> names;
    for (const JsonKey& key : known) names.emplace_back(key.name);
    return refuse(fmt::format("unknown key `{}`", excerpt(name)),
                  suggest_name(excerpt(name), names));
  }
  bool start_array(std::size_t) override {
    const JsonKey* key = current();
    if (key == nullptr || in_ids_ || (in_objects_ && !open_inner_)) return misplaced("a list");
    if (key->kind == JsonKind::kIds) {
      in_ids_ = true;
    } else if (key->kind == JsonKind::kObjects) {
      in_objects_ = true;
    } else {
      return wrong_kind("a list");
    }
    field().given = true;
    return true;
  }
  bool end_array() override {
    if (in_ids_) {
      in_ids_ = false;
      done_with_key();
    } else {
      in_objects_ = false;
      key_ = nullptr;
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    return refuse(fmt::format("not JSON from column {} on", position), "correct the line");
  }

 private:
  [[nodiscard]] const JsonKey* current() const { return open_inner_ ? inner_key_ : key_; }
  std::vector<JsonObject>& list() { return object.fields[index_].objects; }
  JsonField& field() {
    return open_inner_ ? list().back().fields[inner_index_] : object.fields[index_];
  }
  void done_with_key() { (open_inner_ ? inner_key_ : key_) = nullptr; }

  bool scalar(JsonKind kind, std::string text) {
    const JsonKey* key = current();
    if (key == nullptr || (in_objects_ && !open_inner_)) return misplaced(words_for(kind));
    if (key->kind != kind) return wrong_kind(words_for(kind));
    field().given = true;
    field().text = std::move(text);
    done_with_key();
    return true;
  }
  bool scalar_of_no_kind(std::string_view what) {
    const bool has_key = current() != nullptr && !in_ids_ && !(in_objects_ && !open_inner_);
    return has_key ? wrong_kind(what) : misplaced(what);
  }
  bool wrong_kind(std::string_view what) {
    return refuse(fmt::format("`{}` is {}", current()->name, what),
                  fmt::format("write {}", words_for(current()->kind)));
  }
  bool bad_id(std::string_view text) {
    return refuse(fmt::format("`{}` holds `{}`", current()->name, excerpt(text)),
                  "write whole numbers, zero or more");
  }
  bool misplaced(std::string_view what) {
    return refuse(fmt::format("{} is out of place", what), "write one object per line");
  }
  bool refuse(std::string what, std::string fix) {
    fault = error_in("", std::move(what), std::move(fix));
    return false;
  }

  std::span<const JsonKey> keys_;
  const JsonKey* key_ = nullptr;        // of the outer object, whose value is being read
  const JsonKey* inner_key_ = nullptr;  // of the inner one
  std::size_t index_ = 0, inner_index_ = 0;
  bool begun_ = false, closed_ = false, open_inner_ = false;
  bool in_ids_ = false, in_objects_ = false;
};

}  // namespace

Result<JsonObject> read_json_line(std::string_view line, std::span<const JsonKey> keys) {
  LineHandler handler(keys);
  if (!nlohmann::json::sax_parse(line, &handler) || !handler.complete()) {
    return handler.fault.value_or(error_in("", "not a JSON object", "write one object per line"));
  }
  return std::move(handler.object);
}

bool names_key(std::string_view line, std::string_view key) {
  const std::size_t begin = line.find_first_not_of(" \t");
  return begin != std::string_view::npos && line[begin] == '{' &&
         line.find(fmt::format("\"{}\"", key)) != std::string_view::npos;
}

}  // namespace sluice
