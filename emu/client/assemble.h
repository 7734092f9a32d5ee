// A container from a refinement that arrived and the level below it that was here.
// Where in the flow: between ReceivedChunks and decoding. The bytes may be anyone's.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice {

// `lower` is a whole container; `addition` the header of the higher one and its sections of
// refinements that `lower` does not have, in the order of the file. The result is at most as large
// as both together. Errors: sections are missing, or sizes do not fit.
[[nodiscard]] Result<std::vector<std::byte>> assemble_container(std::span<const std::byte> lower,
                                                                std::span<const std::byte> addition,
                                                                const std::string& name);

}  // namespace sluice
