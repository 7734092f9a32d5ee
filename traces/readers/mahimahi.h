// What mahimahi traces are made of; the writer uses it too.
#pragma once

#include "base/units.h"

namespace sluice {

// One line is one delivery opportunity of this size at a whole millisecond (mahimahi's mm-link
// manual).
inline constexpr DataSize kMahimahiPacket = DataSize::bytes(1500);
inline constexpr Duration kMahimahiBin = std::chrono::milliseconds{1};

}  // namespace sluice
