// A section of lossless: its two modes, and the two functions of the codec.
// Where in the flow: encode.cc and decode.cc define them, binding.cc names them.
#pragma once

#include <cstdint>
#include <span>

#include "codec/codec.h"

namespace sluice::lossless {

// The first byte of a section.
enum class Mode : std::uint8_t { kRaw = 0, kCoded = 1 };

[[nodiscard]] Result<EncodedSection> encode_section(const SectionContext& context,
                                                    std::span<const SectionTensor> tensors);
[[nodiscard]] Status decode_section(const SectionContext& context,
                                    std::span<const std::byte> payload,
                                    std::span<const MutableSectionTensor> tensors);

}  // namespace sluice::lossless
