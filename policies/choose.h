// Questions that several policies ask of an Observation.
#pragma once

#include <optional>
#include <string>

#include "policies/policy.h"

namespace sluice {

// The first chunk of which nothing is here or coming.
[[nodiscard]] std::optional<std::int32_t> next_absent_chunk(const Observation& observation);

// A transfer or a prefill is under way: for policies that deal with one chunk after the other.
[[nodiscard]] bool anything_coming(const Observation& observation);

// Bytes of all absent chunks at one level.
[[nodiscard]] DataSize remaining_size(const Observation& observation, std::int32_t level);

// Prefill of all absent chunks one after the other; nullopt when one of them cannot be recomputed.
[[nodiscard]] std::optional<Duration> remaining_recompute_time(const Observation& observation);

[[nodiscard]] Decision fetch(std::int32_t chunk, std::int32_t level, std::string reason);
[[nodiscard]] Decision recompute(std::int32_t chunk, std::string reason);
[[nodiscard]] Decision wait(std::string reason);

// Indices of the levels whose codec is `codec`, least damage first; of all levels when none is.
[[nodiscard]] std::vector<std::int32_t> levels_of_codec(std::span<const LevelInfo> levels,
                                                        const std::string& codec);

}  // namespace sluice
