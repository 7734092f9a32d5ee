#include "analysis/store/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

namespace sluice {
namespace {

std::string boot_id() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  in >> id;
  return id.empty() ? "unknown-boot" : id;
}

// Clock ticks from boot to the process's start (proc(5), stat, field 22); empty when it does not
// run.
std::string start_time(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string text;
  std::getline(in, text);
  const std::size_t name_end = text.rfind(')');  // the name may hold spaces and parentheses
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  std::string field, state;
  fields >> state;
  if (state == "Z" || state == "X") return {};  // ended, not yet waited for
  for (int number = 4; number <= 22; ++number) fields >> field;
  return field;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  return name.data();
}

}  // namespace

std::string this_worker() {
  const std::string pid = std::to_string(::getpid());
  return fmt::format("{} {} {} {}", host_name(), boot_id(), pid, start_time(pid));
}

bool is_alive(std::string_view worker) {
  std::istringstream parts{std::string(worker)};
  std::string host, boot, pid, start;
  parts >> host >> boot >> pid >> start;
  if (boot != boot_id() || pid.find_first_not_of("0123456789") != std::string::npos) return false;
  return !start.empty() && start == start_time(pid);
}

}  // namespace sluice
