#include <algorithm>

#include "codec/device/gpu.h"

namespace sluice {

LaunchTarget GpuFacts::target() const {
  return target(num_multiprocessors);
}

LaunchTarget GpuFacts::target(int multiprocessors) const {
  return {.parameters = launch_row(compute_capability).parameters,
          .num_multiprocessors = std::min(multiprocessors, num_multiprocessors)};
}

}  // namespace sluice
