// What this process has used so far: processor time, so that other work on the machine disturbs a
// figure little, and memory at its peak.
#pragma once

#include <sys/resource.h>

#include <ctime>

namespace sluice {

inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

inline double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace sluice
