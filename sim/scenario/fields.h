// Strict reading of one YAML mapping: every key must be known, given once, and well-formed; errors
// carry file and line.
// Where in the flow: under the scenario parser; nothing else reads YAML.
// Surprise: the first error counts and later reads return defaults; but a missing key gives way to
// any other fault, since a misspelt key is both missing and unknown and the unknown one says more.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace sluice {

// What all mappings of one file share: its name and the first error.
class FieldErrors {
 public:
  explicit FieldErrors(std::string file) : file_(std::move(file)) {}
  void add(const YAML::Node& at, std::string what, std::string fix);
  void add(const YAML::Node& at, const Error& error) { add(at, error.what, error.fix); }
  void add_missing(const YAML::Node& at, std::string what);
  // An error in another file that this one names.
  void add_elsewhere(const Error& error) {
    if (!first_) first_ = error;
  }
  [[nodiscard]] bool any() const { return first_ || missing_; }
  [[nodiscard]] const Error& first() const { return first_ ? *first_ : *missing_; }

 private:
  [[nodiscard]] Error error_at_node(const YAML::Node& at, std::string what, std::string fix) const;

  std::string file_;
  std::optional<Error> missing_;
  std::optional<Error> first_;
};

// No time of a scenario is longer, so that sums of a few stay far from the range of a Duration.
inline constexpr Duration kMaxDuration = std::chrono::hours{24 * 365 * 10};

class Fields {
 public:
  // `path` names the mapping in errors ("topology.link"; empty at the top). Anything but a mapping
  // is an error.
  Fields(YAML::Node node, std::string path, FieldErrors& errors);

  [[nodiscard]] bool has(const std::string& key);
  // Each read marks the key as known. Without a default a missing key is an error.
  std::string text(const std::string& key, std::optional<std::string> fallback = std::nullopt);
  std::int64_t integer(const std::string& key, std::int64_t low, std::int64_t high,
                       std::optional<std::int64_t> fallback = std::nullopt);
  double number(const std::string& key, double low, double high,
                std::optional<double> fallback = std::nullopt);
  bool boolean(const std::string& key, std::optional<bool> fallback = std::nullopt);
  DataRate rate(const std::string& key, std::optional<DataRate> fallback = std::nullopt);
  DataSize size(const std::string& key, std::optional<DataSize> fallback = std::nullopt);
  Duration duration(const std::string& key, std::optional<Duration> fallback = std::nullopt);
  // One of `choices`.
  std::string choice(const std::string& key, const std::vector<std::string>& choices,
                     std::optional<std::string> fallback = std::nullopt);
  // A scalar or a list of scalars, as texts. Missing means empty.
  std::vector<std::string> texts(const std::string& key);
  // The node itself, for values of several shapes; undefined when missing and not `required`.
  YAML::Node node(const std::string& key, bool required);
  Fields child(const std::string& key, bool required);

  // Unknown keys become an error that names the nearest known one. Call last.
  void finish();

  [[nodiscard]] std::string path_of(const std::string& key) const;
  [[nodiscard]] FieldErrors& errors() { return errors_; }
  [[nodiscard]] const YAML::Node& node() const { return node_; }

 private:
  [[nodiscard]] bool is_printable(const YAML::Node& at, const std::string& key);
  // The scalar's text, or nullopt (with an error unless there is a fallback).
  std::optional<std::string> scalar(const std::string& key, bool has_fallback);
  template <typename T>
  T parsed(const std::string& key, const std::optional<T>& fallback, T nothing,
           const std::function<Result<T>(const std::string&)>& parse);

  YAML::Node node_;
  std::string path_;
  FieldErrors& errors_;
  std::vector<std::string> known_;
};

}  // namespace sluice
