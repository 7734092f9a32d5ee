#include "emu/host/cpu_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace sluice {
namespace {

std::chrono::nanoseconds time_of(int who) {
  rusage use{};
  ::getrusage(who, &use);
  const auto as_time = [](const timeval& t) {
    return std::chrono::seconds{t.tv_sec} + std::chrono::microseconds{t.tv_usec};
  };
  return as_time(use.ru_utime) + as_time(use.ru_stime);
}

}  // namespace

CpuSampler::CpuSampler() : start_(read()) {}

CpuSampler::Times CpuSampler::read() {
  Times times;
  times.own = time_of(RUSAGE_SELF) + time_of(RUSAGE_CHILDREN);
  std::ifstream stat("/proc/stat");
  std::string name;
  // user nice system idle iowait irq softirq steal; guests are part of user.
  std::int64_t ticks = 0;
  stat >> name;
  for (int column = 0; column < 8 && stat >> ticks; ++column) {
    times.all += ticks;
    if (column == 3 || column == 4) times.idle += ticks;
    if (column == 7) times.stolen = ticks;
  }
  return times;
}

CpuUse CpuSampler::since_start() const {
  const Times now = read();
  const auto all = static_cast<double>(now.all - start_.all);
  if (all <= 0) return {};
  const auto share = [&](std::int64_t ticks) { return static_cast<double>(ticks) / all; };
  const std::chrono::duration<double> own = now.own - start_.own;
  return {.busy = 1 - share(now.idle - start_.idle),
          .stolen = share(now.stolen - start_.stolen),
          .own = own.count() * static_cast<double>(::sysconf(_SC_CLK_TCK)) / all};
}

}  // namespace sluice
