// The `matrix` mapping of a scenario: fields with several values each, and what every combination
// of them makes.
// Where in the flow: before the scenario is parsed, on the YAML itself, so that any field can vary.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/fields.h"

namespace sluice {

struct Variant {
  std::string name;  // "link.delay=10ms, slo=2s"; empty where there is no matrix
  YAML::Node root;   // without `matrix`, the values in place
};

// In the order of the file, the last field varying fastest. `root` is what `text` says; a variant
// is parsed from it anew, since yaml-cpp's copies forget their lines. Errors go to `errors`.
[[nodiscard]] std::vector<Variant> expand_matrix(const std::string& text, const YAML::Node& root,
                                                 FieldErrors& errors);

}  // namespace sluice
