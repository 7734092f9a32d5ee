// Workload traces as a picture: requests and their lengths over time, and how lengths are
// distributed, one row of panels per file.
// Where in the flow: step 1, beside `trace inspect`; `trace plot` writes what this returns.
#pragma once

#include <span>
#include <string>

#include "traces/plot/workload_shape.h"

namespace sluice {

struct PlottedWorkload {
  std::string title;
  WorkloadShape shape;  // of kNumColumns columns
};

// An SVG file that refers to nothing outside itself; names are escaped. At least one workload.
[[nodiscard]] std::string plot_workloads(std::span<const PlottedWorkload> workloads);

}  // namespace sluice
