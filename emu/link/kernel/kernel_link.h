// The emulator `kernel`: two namespaces joined by a veth pair, each direction shaped by the
// kernel's token bucket (tbf), its rate set by rtnetlink whenever the trace changes it. Where in
// the flow: one row of the table in emu/link/emulators.cc. Surprises: rates that change within
// kShortestRateStep are averaged over it; a change fills the bucket, which lets up to a
// millisecond's worth of packets pass early; through an outage one packet passes, since tbf knows
// no rate zero; delay and loss come before the queue (netem holds the tbf).
#pragma once

#include <memory>

#include "emu/link/emulated_link.h"

namespace sluice {

inline constexpr Duration kShortestRateStep = std::chrono::milliseconds{20};

// Refuses what tbf and netem cannot do (another queue than drop-tail, jitter, delay traces, loss
// other than random, rates above 100 Gbit/s) or this kernel lacks.
[[nodiscard]] Status check_kernel_link(const EmulatedLinkSpec& spec);

// The near end is 10.77.0.1, the far end 10.77.0.2. Its health is that of the rate changes:
// lateness of each, and the share of them that were no more than 1 ms late.
[[nodiscard]] Result<std::unique_ptr<EmulatedLink>> open_kernel_link(const EmulatedLinkSpec& spec);

}  // namespace sluice
