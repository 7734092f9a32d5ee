#include "sim/scenario/matrix.h"

#include <fmt/format.h>

namespace sluice {
namespace {

constexpr std::size_t kMaxVariants = 1000;
constexpr std::size_t kShownPath = 80;
constexpr std::size_t kMaxDepth = 16;  // keys of a path

struct Axis {
  std::string path;  // "link.delay"
  YAML::Node values;
};

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> keys;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    keys.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return keys;
}

// Puts a value where the path leads; mappings on the way that are missing are made, and the parser
// then says whether the key is known.
void set_at(YAML::Node node, const std::vector<std::string>& keys, std::size_t depth,
            const YAML::Node& value) {
  if (depth + 1 == keys.size()) {
    node[keys[depth]] = value;
    return;
  }
  set_at(node[keys[depth]], keys, depth + 1, value);
}

bool leads_through_mappings(const YAML::Node& root, const std::vector<std::string>& keys) {
  YAML::Node node = root;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    if (!node.IsMap()) return false;
    const YAML::Node next = std::as_const(node)[keys[i]];
    if (!next.IsDefined()) return true;
    node.reset(next);
  }
  return node.IsMap();
}

std::string text_of(const YAML::Node& value) {
  if (value.IsScalar()) return value.Scalar();
  YAML::Emitter out;
  out << YAML::Flow << value;
  return out.c_str();
}

std::vector<Axis> read_axes(const YAML::Node& root, FieldErrors& errors) {
  std::vector<Axis> axes;
  const YAML::Node matrix = root["matrix"];
  if (!matrix.IsMap() || matrix.size() == 0) {
    errors.add(matrix, "matrix is no mapping of fields to lists",
               "as in `matrix: {link.delay: [1ms, 10ms]}`");
    return axes;
  }
  std::size_t num_variants = 1;
  for (const auto& entry : matrix) {
    const std::string path = entry.first.Scalar();
    const YAML::Node values = entry.second;
    if (!values.IsSequence() || values.size() == 0) {
      errors.add(entry.first,
                 fmt::format("matrix.{} is no list of values", path.substr(0, kShownPath)),
                 "give one value or more in brackets");
      return axes;
    }
    const std::vector<std::string> keys = split_path(path);
    if (path == "name" || keys.size() > kMaxDepth || !leads_through_mappings(root, keys)) {
      errors.add(
          entry.first,
          fmt::format("matrix.{} leads to no field that can vary", path.substr(0, kShownPath)),
          "write the keys from the top with dots, as in `link.delay`");
      return axes;
    }
    num_variants *= values.size();
    axes.push_back({path, values});
    if (num_variants > kMaxVariants) {
      errors.add(matrix, fmt::format("matrix makes more than {} variants", kMaxVariants),
                 "use fewer values");
      return axes;
    }
  }
  return axes;
}

// Counts in mixed radix: the digit of each axis is the index of its value.
Variant variant_of(const std::string& text, const std::vector<Axis>& axes, std::size_t number) {
  Variant variant{"", YAML::Load(text)};
  variant.root.remove("matrix");
  std::size_t period = 1;
  for (const Axis& axis : axes) period *= axis.values.size();
  for (const Axis& axis : axes) {
    period /= axis.values.size();
    const YAML::Node value = axis.values[number / period % axis.values.size()];
    set_at(variant.root, split_path(axis.path), 0, value);
    variant.name +=
        fmt::format("{}{}={}", variant.name.empty() ? "" : ", ", axis.path, text_of(value));
  }
  return variant;
}

}  // namespace

std::vector<Variant> expand_matrix(const std::string& text, const YAML::Node& root,
                                   FieldErrors& errors) {
  if (!root.IsMap() || !root["matrix"].IsDefined()) return {{"", root}};
  const std::vector<Axis> axes = read_axes(root, errors);
  std::vector<Variant> variants;
  if (errors.any()) return variants;
  std::size_t num_variants = 1;
  for (const Axis& axis : axes) num_variants *= axis.values.size();
  for (std::size_t i = 0; i < num_variants; ++i) variants.push_back(variant_of(text, axes, i));
  return variants;
}

}  // namespace sluice
