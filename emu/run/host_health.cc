#include "emu/run/host_health.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sluice {

void HealthRecorder::add(const LinkHealth& link, const LinkUsage& down, const LinkUsage& up) {
  health_.link_late_p50 = std::max(health_.link_late_p50, link.lateness_p50);
  health_.link_late_p99 = std::max(health_.link_late_p99, link.lateness_p99);
  health_.link_late_max = std::max(health_.link_late_max, link.lateness_max);
  health_.achieved_share = std::min(health_.achieved_share, link.achieved_share);
  health_.wire_dropped += down.wire_dropped + up.wire_dropped;
  host_drops_ += link.num_host_drops;
}

HostHealth HealthRecorder::finish(const std::string& emulator, const LatenessHistogram& timers,
                                  const CpuUse& cpu) {
  health_.emulator = emulator;
  health_.timer_late_p50 = timers.quantile(0.5);
  health_.timer_late_p99 = timers.quantile(0.99);
  health_.timer_late_max = timers.max();
  health_.cpu_busy = cpu.busy;
  health_.cpu_stolen = cpu.stolen;
  std::vector<std::string> doubts;
  if (health_.link_late_p99 > kLinkLateMax)
    doubts.push_back(fmt::format("a hundredth of the packets left the link {} late or more",
                                 to_text(health_.link_late_p99)));
  if (health_.timer_late_p99 > kTimerLateMax)
    doubts.push_back(fmt::format("a hundredth of the timers came {} late or more",
                                 to_text(health_.timer_late_p99)));
  if (health_.achieved_share < kAchievedShareMin)
    doubts.push_back(
        fmt::format("{:.0f} % of what the link did came late", 100 * (1 - health_.achieved_share)));
  if (health_.cpu_busy > kCpuBusyMax)
    doubts.push_back(
        fmt::format("the processors were busy {:.0f} % of the time", 100 * health_.cpu_busy));
  if (health_.cpu_stolen > kCpuStolenMax)
    doubts.push_back(fmt::format("{:.0f} % of the processors' time went to other machines",
                                 100 * health_.cpu_stolen));
  if (host_drops_ > 0)
    doubts.push_back(fmt::format("the host lost {} packets before the link", host_drops_));
  health_.doubts = fmt::format("{}", fmt::join(doubts, "\n"));
  return health_;
}

}  // namespace sluice
