// Which entries of a tensor are worth fp16, and which ones nothing at all.
// Where in the flow: first step of the encoder; a decoder finds the choice in the payload.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sluice::mixed_sparse {

enum class Entry : std::uint8_t { kCode, kKept, kZero };

// [token, channel], as `values`. Importance of an entry: its magnitude times the square root of its
// token's weight; of equals the earlier one counts more. `weights` is empty (all 1) or one per
// token, at least 0.
[[nodiscard]] std::vector<Entry> select_entries(std::span<const float> values,
                                                std::int64_t channels,
                                                std::span<const float> weights, int kept_percent,
                                                int zero_percent);

}  // namespace sluice::mixed_sparse
