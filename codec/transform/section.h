// The levels of transform and its two functions.
// Where in the flow: encode.cc and decode.cc define the functions, binding.cc names them.
#pragma once

#include <cstdint>
#include <span>

#include "codec/codec.h"

namespace sluice::transform {

struct Level {
  const char* name;
  const char* summary;
  double bits_per_element;  // what components may cost, tokens that are kept not counted
};
[[nodiscard]] std::span<const Level> levels();
inline constexpr std::size_t kDefaultLevel = 1;

// At least a byte for so many elements; a shorter section ends in zeros.
inline constexpr std::int64_t kMaxElementsPerByte = 256;

[[nodiscard]] Result<EncodedSection> encode_section(const SectionContext& context,
                                                    std::span<const SectionTensor> tensors);
[[nodiscard]] Status decode_section(const SectionContext& context,
                                    std::span<const std::byte> payload,
                                    std::span<const MutableSectionTensor> tensors);

}  // namespace sluice::transform
