// JSON from strangers: no duplicate keys, no deep nesting, no exceptions.
// Where in the flow: safetensors headers and capture metadata, RoPE entries of containers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.h"

namespace sluice {

// The error says what is wrong and at which byte; it has no file.
[[nodiscard]] Result<nlohmann::json> parse_strict_json(std::string_view text);

}  // namespace sluice
