// Whether somebody listens on a TCP port, as the kernel's tables tell it.
#pragma once

#include <cstdint>
#include <vector>

#include "emu/host/namespace.h"

namespace sluice {

// In `space` (null: ours), on one of `ports` (none: on any).
[[nodiscard]] bool has_listener(const NetworkNamespace* space,
                                const std::vector<std::uint16_t>& ports);

}  // namespace sluice
