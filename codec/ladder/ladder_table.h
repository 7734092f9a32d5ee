// The ladder in words: the rungs, what each codec needs at equal damage, and the published figures
// beside ours; as text, CSV or JSON.
#pragma once

#include <optional>
#include <ostream>

#include "base/table.h"
#include "codec/ladder/ladder.h"
#include "codec/ladder/published.h"

namespace sluice {

struct LadderPage {
  Ladder ladder;
  std::optional<EqualDamage> equal;  // points into `ladder`
  PublishedPoints published;
  std::int64_t context_elements = 0;  // of the published context
};

// CSV holds the rungs alone.
void print_ladder(const LadderPage& page, TableFormat format, std::ostream& out);

}  // namespace sluice
