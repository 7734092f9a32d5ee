// transform: principal components over the heads and layers of a section, bits by dynamic
// programming (the idea of KVTC, arXiv 2511.01815).
// Where in the flow: one line of codec/registry.cc. The bits: spec.md.
#pragma once

#include "codec/codec.h"

namespace sluice {

[[nodiscard]] Codec transform_codec();

}  // namespace sluice
