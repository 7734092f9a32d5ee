// The emulator `tun`: a link in user space between two namespaces, each with a TUN interface.
// Where in the flow: one row of the table in emu/link/emulators.cc.
// Surprise: kernel TCP hands it super-segments of up to 64 KB (segmentation offload); the schedule
// is of the packets in them, each with its own headers, and what is due together leaves together.
#pragma once

#include <memory>

#include "emu/link/emulated_link.h"

namespace sluice {

// What the spec asks that it cannot do (a chunk-clocked trace, an MTU below 68 bytes, whatever
// check_topology() refuses), or what this host lacks.
[[nodiscard]] Status check_tun_link(const EmulatedLinkSpec& spec);

// The near end is 10.77.0.1, the far end 10.77.0.2. Errors: as check_tun_link(), or of the kernel.
[[nodiscard]] Result<std::unique_ptr<EmulatedLink>> open_tun_link(const EmulatedLinkSpec& spec);

}  // namespace sluice
