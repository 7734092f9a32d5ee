#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "emu/link/emulated_link.h"
#include "emu/link/kernel/kernel_link.h"
#include "emu/link/process/process_link.h"
#include "emu/link/tun/tun_link.h"

namespace sluice {

const std::vector<LinkEmulator>& link_emulators() {
  static const std::vector<LinkEmulator> kEmulators = {
      {"tun", "our own link in user space: rate, delay, jitter, loss and queues of the trace", true,
       check_tun_link, open_tun_link},
      {"kernel",
       "veth and the kernel's own shaper: rates by tbf; delay and loss where it has netem", true,
       check_kernel_link, open_kernel_link},
      {"process", "without root: relays TCP connections inside the process at rate and delay",
       false, check_process_link, open_process_link},
  };
  return kEmulators;
}

Result<const LinkEmulator*> choose_emulator(const std::string& id, const EmulatedLinkSpec& spec) {
  std::vector<std::string> known{"auto"};
  std::string lacking;
  for (const LinkEmulator& emulator : link_emulators()) {
    known.emplace_back(emulator.id);
    if (id != "auto" && id != emulator.id) continue;
    const Status able = emulator.check(spec);
    if (able) return &emulator;
    if (id == emulator.id) return able.error();
    lacking += fmt::format("{}{}: {}", lacking.empty() ? "" : "; ", emulator.id, able.error().what);
  }
  if (id == "auto")
    return error_in("--emulator", fmt::format("none can do it here ({})", lacking),
                    "ask for less, or run as root");
  return error_in("--emulator", fmt::format("no emulator `{}`", id), suggest_name(id, known));
}

}  // namespace sluice
