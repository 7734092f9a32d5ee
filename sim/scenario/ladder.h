// The ladder of a scenario as policies see it, and where its numbers come from in words, for
// tables.
#pragma once

#include "sim/scenario/scenario.h"

namespace sluice {

// Least damage first, as in the profile.
[[nodiscard]] std::vector<LevelInfo> level_infos(const CodecProfile& ladder);

// "sizes published/estimated, accuracy-loss published, decode estimated".
[[nodiscard]] std::string describe_ladder(const CodecProfile& ladder, bool decode);

// "prefill estimated".
[[nodiscard]] std::string describe_device(const ComputeDevice& device);

}  // namespace sluice
