// One load of a soak with one fault in it.
#pragma once

#include <optional>
#include <string>

#include "base/random.h"
#include "policies/registry.h"
#include "tests/emu/soak.h"
#include "tests/emu/soak_place.h"

namespace sluice {

struct SoakLoad {
  LoadRecord record;
  bool injected = false;  // the fault came while the load was under way
  std::int64_t wrong_tensors = 0;
  Duration took{};
};

// The load `fault` happens to, at a moment that `random` says. Afterwards the server is up again
// and the link as it was. The client is one of the place or of the process, whichever serves.
[[nodiscard]] Result<SoakLoad> run_load_with(SoakFault fault, SoakPlace& place, SoakClient& client,
                                             const PolicySpec& policy, RandomStream& random);
[[nodiscard]] Result<SoakLoad> run_load_with_kill(ServerProcess& process, SoakClient& client,
                                                  const PolicySpec& policy, RandomStream& random);

}  // namespace sluice
