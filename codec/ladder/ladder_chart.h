// Rate and distortion as one SVG file: bits per element against KL, perplexity and top-1, and the
// scores that the literature reports, which have no equal here.
#pragma once

#include <string>

#include "codec/ladder/ladder.h"
#include "codec/ladder/published.h"

namespace sluice {

[[nodiscard]] std::string draw_ladder(const Ladder& ladder, const PublishedPoints& published);

}  // namespace sluice
