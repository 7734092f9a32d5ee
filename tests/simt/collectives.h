// What warp collectives answer, from what all lanes brought. Used by machine.cc only.
#pragma once

#include <cstdint>
#include <span>

#include "tests/simt/machine.h"

namespace sluice::simt {

// The answer to `request`, where warp[lane] is what that lane asked; only lanes of its mask count.
[[nodiscard]] std::uint64_t answer_of(std::span<const WarpRequest> warp,
                                      const WarpRequest& request);

// A vote as one lane off would see it. Shuffles have asked another lane already.
[[nodiscard]] std::uint64_t put_wrong(Collective kind, std::uint64_t answer);

}  // namespace sluice::simt
