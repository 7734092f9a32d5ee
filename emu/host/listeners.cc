#include "emu/host/listeners.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace sluice {
namespace {

constexpr const char* kListening = "0A";  // TCP_LISTEN, in /proc/net/tcp

// Lines are "sl local_address rem_address st ..."; addresses end in ":PORT", hexadecimal.
bool listens(const std::string& line, const std::vector<std::uint16_t>& ports) {
  std::istringstream columns(line);
  std::string slot, local, remote, state;
  if (!(columns >> slot >> local >> remote >> state) || state != kListening) return false;
  if (ports.empty()) return true;
  const unsigned long port = std::stoul(local.substr(local.rfind(':') + 1), nullptr, 16);
  return std::find(ports.begin(), ports.end(), port) != ports.end();
}

bool table_has_listener(const std::vector<std::uint16_t>& ports) {
  for (const char* table : {"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);  // the header
    while (std::getline(file, line)) {
      if (listens(line, ports)) return true;
    }
  }
  return false;
}

}  // namespace

bool has_listener(const NetworkNamespace* space, const std::vector<std::uint16_t>& ports) {
  if (!space) return table_has_listener(ports);
  bool found = false;
  const Status looked = space->run([&]() -> Status {
    found = table_has_listener(ports);
    return {};
  });
  return looked && found;
}

}  // namespace sluice
