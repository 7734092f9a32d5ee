// A strict view of JSON: typed fields in ranges; no unknown, repeated or missing keys.
// Where in the flow: model geometries, codec profiles, decode times, compute devices.
// Surprise: getters never fail in place; finish() returns the first fault, so that a reader is a
// straight list of fields. Values after a fault are harmless defaults: use none before finish().
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace sluice {

template <typename T>
struct JsonRange {
  T low, high;  // both allowed
};

// One object of the document; copies share the document and its faults.
class JsonReader {
 public:
  // The text must be one JSON object. `file` names it in errors.
  [[nodiscard]] static Result<JsonReader> parse(std::string_view text, std::string file);

  // A string that is not empty.
  [[nodiscard]] std::string text(const std::string& key);
  // A string that may be empty or absent.
  [[nodiscard]] std::string optional_text(const std::string& key);
  // A whole number written without a decimal point.
  [[nodiscard]] std::int64_t integer(const std::string& key, JsonRange<std::int64_t> range);
  [[nodiscard]] double number(const std::string& key, JsonRange<double> range);
  [[nodiscard]] JsonReader object(const std::string& key);
  // A list of objects, with at least one.
  [[nodiscard]] std::vector<JsonReader> objects(const std::string& key);
  // Asking makes the key a known one.
  [[nodiscard]] bool has(const std::string& key);
  // `format` must be exactly this.
  void expect_format(std::string_view format);

  // A fault of the caller's own rule about `key` of this object ("" for the object itself).
  void fail(const std::string& key, const std::string& what, const std::string& fix);
  // The first fault; else the first key that was never asked for, with the nearest known one.
  [[nodiscard]] Status finish() const;

 private:
  struct Document;
  struct Object;
  JsonReader(std::shared_ptr<Document> document, Object* object);
  [[nodiscard]] std::string path_of(const std::string& key) const;
  // The value, or a fault and nullptr.
  [[nodiscard]] const nlohmann::json* require(const std::string& key);

  std::shared_ptr<Document> document_;
  Object* object_;  // owned by the document
};

// The ids (file names without .json) in `folder`, sorted.
[[nodiscard]] Result<std::vector<std::string>> list_json_ids(const std::filesystem::path& folder);

// The file `folder`/`id`.json. An unknown id is an error that names the nearest known one; `kind`
// is what it is called there ("model").
[[nodiscard]] Result<std::filesystem::path> find_json_file(const std::filesystem::path& folder,
                                                           const std::string& id,
                                                           std::string_view kind);

}  // namespace sluice
