// The one YAML document of a file.
// Where in the flow: under the scenario parser, before fields.h.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

#include "base/result.h"

namespace sluice {

// Errors: text that is no YAML, or not exactly one document of it. `file` is for the error.
[[nodiscard]] Result<YAML::Node> parse_document(const std::string& text, const std::string& file);

}  // namespace sluice
