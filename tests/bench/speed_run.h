// All the runs of one `codec bench`: ceilings, codecs, peers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/speed_codec.h"
#include "tests/bench/speed_measure.h"
#include "tests/bench/speed_table.h"

namespace sluice::bench {

struct SpeedPlan {
  std::vector<CodecLevel> codec_levels;
  std::vector<Backend> backends;
  std::vector<int> cores;
  Timing timing;
  bool has_peers = true;
};

[[nodiscard]] int num_cpus();

// Says on stderr what it measures. The error is that of the codec or peer that failed.
[[nodiscard]] Result<SpeedReport> measure_speed(const SpeedPlan& plan, const SpeedInput& input);

}  // namespace sluice::bench
