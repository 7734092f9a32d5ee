// Which refinements a file of a given size keeps: those that take away most damage per byte.
// Where in the flow: encode.cc, between coding the sections and laying them out.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "codec/container/header.h"

namespace sluice {

struct SectionCost {
  SectionEntry entry;     // with its size
  double distortion = 0;  // EncodedSection::distortion
};

// keep[i] of every section: all bases, and refinements in the order of distortion removed per byte
// (the file's and the table's), each behind the one that it refines, as long as they fit beside
// `bases_size`, the file with its bases alone. A refinement that does not fit ends its chain, not
// the others'.
[[nodiscard]] std::vector<bool> choose_sections(std::span<const SectionCost> sections,
                                                DataSize bases_size, DataSize max_size);

}  // namespace sluice
