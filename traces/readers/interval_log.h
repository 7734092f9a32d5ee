// Logs whose rows say how many bytes came in how many milliseconds: six columns separated by blanks
// (epoch, clock in ms, latitude, longitude, bytes, ms since the row before).
// Where in the flow: under the readers hsdpa and ghent, which differ in the unit of the first.
// Surprise: where the clock in ms goes back, the log began anew: what follows is skipped.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "traces/link_trace.h"

namespace sluice {

enum class EpochUnit { kSeconds, kMilliseconds };

[[nodiscard]] Result<std::vector<LinkTrace>> read_interval_log(const std::filesystem::path& path,
                                                               EpochUnit epoch_unit);

}  // namespace sluice
