// The ladder of a scenario as policies see it, and where its numbers come from in words, for
// tables.
#pragma once

#include "sim/scenario/scenario.h"

namespace sluice {

// Least damage first, as in the profile.
[[nodiscard]] std::vector<LevelInfo> level_infos(const CodecProfile& ladder);

// "sizes scaled, attention-output-error scaled, decode estimated; taken on smollm2-135m".
// `taken_on` is the model of the profile before it was scaled to the scenario's.
[[nodiscard]] std::string describe_ladder(const CodecProfile& ladder, const std::string& taken_on,
                                          bool decode);

// "prefill estimated".
[[nodiscard]] std::string describe_device(const ComputeDevice& device);

}  // namespace sluice
