// lossless: every bit of fp16, bf16 and fp32 kept, in about two thirds of the bytes of bf16.
// Where in the flow: one line of codec/registry.cc. The bits: spec.md.
#pragma once

#include "codec/codec.h"

namespace sluice {

[[nodiscard]] Codec lossless_codec();

}  // namespace sluice
