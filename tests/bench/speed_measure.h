// Times one piece of work with Google Benchmark: repeats, median.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace sluice::bench {

enum class Clock { kWall, kCpu };

struct Timing {
  Clock clock = Clock::kWall;
  int repeats = 3;  // >= 1; each runs for 20 ms or once; work of more than 0.17 s has fewer
};

// Median seconds of one call of `work`: on the wall, or processor seconds of the whole process,
// divided by `cores`. A failure of the work is the result.
[[nodiscard]] Result<double> median_seconds(const std::string& name, const Timing& timing,
                                            int cores, const std::function<Status()>& work);

}  // namespace sluice::bench
