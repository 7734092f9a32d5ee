// How busy the host's processors were, and how much of that was ours.
// Where in the flow: the health of a run. Source: /proc/stat (proc(5)) and getrusage(2).
#pragma once

#include <chrono>
#include <cstdint>

namespace sluice {

// Shares of all processors' time, 0..1.
struct CpuUse {
  double busy = 0;    // of the whole host, stolen time included
  double stolen = 0;  // taken by the hypervisor for others
  double own = 0;     // this program and its children that have ended
};

class CpuSampler {
 public:
  CpuSampler();
  // Since construction. Zeros where /proc/stat cannot be read.
  [[nodiscard]] CpuUse since_start() const;

 private:
  struct Times {
    std::int64_t all = 0, idle = 0, stolen = 0;  // clock ticks
    std::chrono::nanoseconds own{};
  };
  static Times read();

  Times start_;
};

}  // namespace sluice
