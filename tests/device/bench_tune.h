// The launch parameters that decode fastest on this GPU: a row of codec/device/launch_table.inc.
// Where in the flow: tests/device/tune.sh.
#pragma once

#include <string>

#include "tests/device/bench_section.h"

namespace sluice {

// One parameter after the other, each at its best value so far: threads, unit and blocks by int8,
// warps per block by cachegen-released. `{90, "NVIDIA H200", {256, 8192, 8, 4}},`
[[nodiscard]] Result<std::string> tuned_row(const BenchShape& shape, int repeats);

}  // namespace sluice
