// Whether the host kept up with an emulated run: what was measured, and the verdict.
// Where in the flow: beside every emulated run; a run on a host that was late says nothing of the
// policy.
#pragma once

#include "emu/host/cpu_use.h"
#include "emu/host/lateness.h"
#include "emu/link/emulated_link.h"
#include "sim/session/record.h"

namespace sluice {

// Beyond these a run is not valid. A chunk takes tens of milliseconds at the least, so what stays
// below moves a TTFT by a few percent at most.
inline constexpr Duration kLinkLateMax = std::chrono::milliseconds{5};    // p99
inline constexpr Duration kTimerLateMax = std::chrono::milliseconds{10};  // p99
inline constexpr double kAchievedShareMin = 0.95;
inline constexpr double kCpuBusyMax = 0.95;
inline constexpr double kCpuStolenMax = 0.15;

// Gathers over the stages of a run.
class HealthRecorder {
 public:
  // Of one stage: the worst of the stages counts.
  void add(const LinkHealth& link, const LinkUsage& down, const LinkUsage& up);
  // With what the whole run did to timers and processors, judged.
  [[nodiscard]] HostHealth finish(const std::string& emulator, const LatenessHistogram& timers,
                                  const CpuUse& cpu);

 private:
  HostHealth health_;
  std::int64_t host_drops_ = 0;
};

}  // namespace sluice
