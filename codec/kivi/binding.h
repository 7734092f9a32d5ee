// kivi-4 and kivi-2: asymmetric quantisation, keys per channel and values per token (KIVI, Liu et
// al., ICML 2024).
// Where in the flow: one line each of codec/registry.cc. The bits: spec.md.
#pragma once

#include "codec/codec.h"

namespace sluice {

[[nodiscard]] Codec kivi_4_codec();
[[nodiscard]] Codec kivi_2_codec();

}  // namespace sluice
