// What the formats of TCP and IPv4 allow: for the tier `tcp` and for who decides whether it can
// run.
#pragma once

#include "base/units.h"

namespace sluice {

// IPv4 20 + TCP 20 + timestamps 12 bytes before each full packet's payload.
inline constexpr DataSize kTcpHeader = DataSize::bytes(52);
// The largest IPv4 and TCP headers that acknowledge with selective blocks, and some payload.
inline constexpr DataSize kTcpMtuMin = DataSize::bytes(128);
// The window field of 16 bits, scaled by at most 2^14 (RFC 7323, section 2.3).
inline constexpr DataSize kTcpWindowMax = DataSize::bytes(std::int64_t{65535} << 14);

}  // namespace sluice
