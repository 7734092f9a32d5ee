// mixed-sparse: the most important entries in fp16, the rest in 4 bits, zeros left out where that
// is shorter.
// Where in the flow: one line of codec/registry.cc. The bits: spec.md.
#pragma once

#include "codec/codec.h"

namespace sluice {

[[nodiscard]] Codec mixed_sparse_codec();

}  // namespace sluice
