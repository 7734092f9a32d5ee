// What a scenario's results depend on, as one line of JSON, and its hash; and the ladder in words.
#pragma once

#include "sim/scenario/scenario.h"

namespace sluice {

[[nodiscard]] std::string canonical_text(const Scenario& scenario);
[[nodiscard]] std::string sha256_of_canonical(const std::string& canonical);

// The levels as policies see them.
[[nodiscard]] std::vector<LevelInfo> level_infos(const CodecProfile& ladder);

// "sizes published (CacheGen Table 1), decode estimated on a40, ..." for the tables: distinct sources per fact.
[[nodiscard]] std::string describe_ladder(const CodecProfile& ladder, bool decode);

}  // namespace sluice
