// What every emulator refuses: a spec that no simulated tier would take either, and traces that are
// clocked by chunks, of which packets know nothing.
#pragma once

#include "emu/link/emulated_link.h"

namespace sluice {

[[nodiscard]] Status check_link_spec(const EmulatedLinkSpec& spec);

}  // namespace sluice
