// The pieces of JSON that profiles, decode times and compute devices share.
#pragma once

#include <string>

#include "base/json_reader.h"
#include "codec/profile.h"

namespace sluice {

// {"fixed_ns": 50000, "ns_per_element": 0.04, "source": "estimated"}
[[nodiscard]] LinearTime read_linear_time(JsonReader in);
// "measured", "published", "scaled" or "estimated" at `key`.
[[nodiscard]] FactSource read_source(JsonReader& in, const std::string& key);

}  // namespace sluice
