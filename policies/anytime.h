// Bases of all chunks first, then the digits of an embedded codec in the order of damage removed
// per byte, until the time that is left is what decoding and the first token take.
// Where in the flow: step 4; it needs a ladder whose levels refine each other, and without one
// sends the smallest level. Surprises: a late link costs quality and not the SLO; all is held
// undecoded and decoded once, one chunk after the other, while digits of the others still come;
// where even the bases do not come in time it recomputes, at the last instant at which that is
// still in time.
#pragma once

#include "policies/registry.h"

namespace sluice {

[[nodiscard]] PolicyEntry anytime_entry();

}  // namespace sluice
