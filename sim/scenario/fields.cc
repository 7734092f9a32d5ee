#include "sim/scenario/fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "base/parse.h"

namespace sluice {

Error FieldErrors::error_at_node(const YAML::Node& at, std::string what, std::string fix) const {
  const int line = at.IsDefined() ? at.Mark().line : -1;
  return {file_, line >= 0 ? std::optional<std::int64_t>(line + 1) : std::nullopt, std::move(what),
          std::move(fix)};
}

void FieldErrors::add(const YAML::Node& at, std::string what, std::string fix) {
  if (!first_) first_ = error_at_node(at, std::move(what), std::move(fix));
}

void FieldErrors::add_missing(const YAML::Node& at, std::string what) {
  if (!missing_) missing_ = error_at_node(at, std::move(what), "add it");
}

Fields::Fields(YAML::Node node, std::string path, FieldErrors& errors)
    : node_(std::move(node)), path_(std::move(path)), errors_(errors) {
  if (!node_.IsMap()) {
    if (node_.IsDefined() && !node_.IsNull())
      errors_.add(node_, fmt::format("{}: is not a mapping", path_.empty() ? "file" : path_),
                  "write `key: value` lines");
    node_ = YAML::Node(YAML::NodeType::Map);
    return;
  }
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (key.empty())
      errors_.add(entry.first, fmt::format("{}: a key is not a word", path_), "use plain keys");
    if (!seen.insert(key).second)
      errors_.add(entry.first, fmt::format("key `{}` is given twice", path_of(key)),
                  "give it once");
  }
}

std::string Fields::path_of(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

bool Fields::has(const std::string& key) {
  known_.push_back(key);
  return std::as_const(node_)[key].IsDefined();
}

YAML::Node Fields::node(const std::string& key, bool required) {
  if (!has(key)) {
    if (required) errors_.add_missing(node_, fmt::format("`{}` is missing", path_of(key)));
    return YAML::Node(YAML::NodeType::Undefined);
  }
  return std::as_const(node_)[key];
}

Fields Fields::child(const std::string& key, bool required) {
  YAML::Node found = node(key, required);
  return Fields(found.IsDefined() ? found : YAML::Node(YAML::NodeType::Map), path_of(key), errors_);
}

// Texts reach terminals, file names and pages.
bool Fields::is_printable(const YAML::Node& at, const std::string& key) {
  const std::string& text = at.Scalar();
  const bool has_control = std::any_of(text.begin(), text.end(), [](unsigned char c) {
    return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7f;
  });
  if (has_control) {
    errors_.add(at, fmt::format("`{}` holds a control character", path_of(key)),
                "write plain text");
  }
  return !has_control;
}

std::optional<std::string> Fields::scalar(const std::string& key, bool has_fallback) {
  const YAML::Node found = node(key, !has_fallback);
  if (!found.IsDefined()) return std::nullopt;
  if (!found.IsScalar()) {
    errors_.add(found, fmt::format("`{}` is not a single value", path_of(key)), "write one value");
    return std::nullopt;
  }
  if (!is_printable(found, key)) return std::nullopt;
  return found.Scalar();
}

template <typename T>
T Fields::parsed(const std::string& key, const std::optional<T>& fallback, T nothing,
                 const std::function<Result<T>(const std::string&)>& parse) {
  const std::optional<std::string> text = scalar(key, fallback.has_value());
  if (!text) return fallback.value_or(nothing);
  const Result<T> value = parse(*text);
  if (value) return *value;
  errors_.add(std::as_const(node_)[key], value.error());
  return nothing;
}

std::string Fields::text(const std::string& key, std::optional<std::string> fallback) {
  return parsed<std::string>(key, fallback, "",
                             [](const std::string& t) -> Result<std::string> { return t; });
}

std::int64_t Fields::integer(const std::string& key, std::int64_t low, std::int64_t high,
                             std::optional<std::int64_t> fallback) {
  return parsed<std::int64_t>(
      key, fallback, low, [&](const std::string& t) -> Result<std::int64_t> {
        Result<std::int64_t> value = parse_integer(t, path_of(key));
        if (value && (*value < low || *value > high)) {
          return error_in("", fmt::format("{}: {} is out of range", path_of(key), t),
                          fmt::format("use {} to {}", low, high));
        }
        return value;
      });
}

double Fields::number(const std::string& key, double low, double high,
                      std::optional<double> fallback) {
  return parsed<double>(key, fallback, low, [&](const std::string& t) -> Result<double> {
    Result<double> value = parse_number(t, path_of(key));
    if (value && (*value < low || *value > high)) {
      return error_in("", fmt::format("{}: {} is out of range", path_of(key), t),
                      fmt::format("use {} to {}", low, high));
    }
    return value;
  });
}

bool Fields::boolean(const std::string& key, std::optional<bool> fallback) {
  return parsed<bool>(key, fallback, false, [&](const std::string& t) -> Result<bool> {
    if (t == "true") return true;
    if (t == "false") return false;
    return error_in("", fmt::format("{}: `{}` is neither true nor false", path_of(key), t),
                    "write true or false");
  });
}

DataRate Fields::rate(const std::string& key, std::optional<DataRate> fallback) {
  return parsed<DataRate>(key, fallback, DataRate::zero(),
                          [&](const std::string& t) { return parse_rate(t, path_of(key)); });
}

DataSize Fields::size(const std::string& key, std::optional<DataSize> fallback) {
  return parsed<DataSize>(key, fallback, DataSize::zero(),
                          [&](const std::string& t) { return parse_size(t, path_of(key)); });
}

Duration Fields::duration(const std::string& key, std::optional<Duration> fallback) {
  return parsed<Duration>(
      key, fallback, Duration::zero(), [&](const std::string& t) -> Result<Duration> {
        Result<Duration> duration = parse_duration(t, path_of(key));
        if (duration && *duration > kMaxDuration) {
          return error_in("", fmt::format("{}: {} is out of range", path_of(key), t),
                          "use a time of at most ten years");
        }
        return duration;
      });
}

std::string Fields::choice(const std::string& key, const std::vector<std::string>& choices,
                           std::optional<std::string> fallback) {
  return parsed<std::string>(
      key, fallback, choices.front(), [&](const std::string& t) -> Result<std::string> {
        if (std::find(choices.begin(), choices.end(), t) != choices.end()) return t;
        return error_in("", fmt::format("{}: unknown value `{}`", path_of(key), t),
                        suggest_name(t, choices));
      });
}

std::vector<std::string> Fields::texts(const std::string& key) {
  const YAML::Node found = node(key, false);
  std::vector<std::string> out;
  if (!found.IsDefined() || found.IsNull()) return out;
  if (found.IsScalar() && !is_printable(found, key)) return out;
  if (found.IsScalar()) return {found.Scalar()};
  if (!found.IsSequence()) {
    errors_.add(found, fmt::format("`{}` is not a list", path_of(key)),
                "write one value or a list");
    return out;
  }
  for (const auto& item : found) {
    if (item.IsScalar() && !is_printable(item, key)) continue;
    if (item.IsScalar()) {
      out.push_back(item.Scalar());
    } else {
      errors_.add(item,
                  fmt::format("`{}` holds something that is not a single value", path_of(key)),
                  "list plain values");
    }
  }
  return out;
}

void Fields::finish() {
  for (const auto& entry : node_) {
    const std::string key = entry.first.Scalar();
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      errors_.add(entry.first, fmt::format("unknown key `{}`", path_of(key)),
                  suggest_name(key, known_));
    }
  }
}

}  // namespace sluice
