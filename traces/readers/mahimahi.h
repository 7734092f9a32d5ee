// What mahimahi traces are made of; the writer and CellReplay's reader use it too.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "base/units.h"
#include "traces/link_trace.h"

namespace sluice {

// One line is one delivery opportunity of this size at a whole millisecond (mahimahi's mm-link
// manual).
inline constexpr DataSize kMahimahiPacket = DataSize::bytes(1500);
inline constexpr Duration kMahimahiBin = std::chrono::milliseconds{1};

// A file of one whole millisecond per line at which `packet` may pass; all but the unit's name of
// the trace is filled in.
[[nodiscard]] Result<LinkTrace> read_opportunities(const std::filesystem::path& path,
                                                   DataSize packet);

}  // namespace sluice
