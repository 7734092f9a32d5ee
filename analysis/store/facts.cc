#include "analysis/store/facts.h"

#include <sqlite3.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "git_facts.h"

namespace sluice {
namespace {

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t value = line.find(": ");
    if (value != std::string::npos) return line.substr(value + 2);
  }
  return "unknown";
}

}  // namespace

WallTime wall_now() {
  return std::chrono::system_clock::now();
}

LinkTraceFacts facts_of(const LinkTrace& trace) {
  return {.name = trace.name,
          .reader = trace.reader,
          .unit = trace.unit,
          .sha256 = trace.sha256,
          .kind = trace.kind,
          .num_rows = trace.num_rows,
          .num_skipped = trace.num_skipped};
}

BuildFacts this_build() {
  return {.commit = kGitCommit,
          .dirty = kGitDirty,
          .compiler = SLUICE_COMPILER,
          .flags = SLUICE_FLAGS,
          .ns3_version = SLUICE_NS3_VERSION,
          .sqlite_version = sqlite3_libversion()};
}

HostFacts this_host() {
  utsname system{};
  if (::uname(&system) != 0)
    return {.name = "unknown", .system = "unknown", .cpu = cpu_name(), .num_cpus = 0};
  return {.name = system.nodename,
          .system = std::string(system.sysname) + " " + system.release + " " + system.machine,
          .cpu = cpu_name(),
          .num_cpus = ::sysconf(_SC_NPROCESSORS_ONLN)};
}

}  // namespace sluice
