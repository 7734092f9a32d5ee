// The levels of mixed-sparse, the rules that both sides share, and its two functions.
// Where in the flow: encode.cc and decode.cc define the functions, binding.cc names them.
#pragma once

#include <cstdint>
#include <span>

#include "codec/codec.h"

namespace sluice::mixed_sparse {

struct Level {
  const char* name;
  const char* summary;
  int kept_percent;  // of a tensor's entries: those in fp16
  int zero_percent;  // those that are coded as 0, the least important ones
};
[[nodiscard]] std::span<const Level> levels();
inline constexpr std::size_t kDefaultLevel = 1;

inline constexpr std::int64_t kGroupChannels = 64;  // of a token, that share a scale
[[nodiscard]] constexpr std::int64_t groups_of(std::int64_t channels) {
  return (channels + kGroupChannels - 1) / kGroupChannels;
}
// A gap of so many entries or more takes several bytes.
inline constexpr std::uint8_t kLongGap = 255;

[[nodiscard]] Result<EncodedSection> encode_section(const SectionContext& context,
                                                    std::span<const SectionTensor> tensors);
[[nodiscard]] Status decode_section(const SectionContext& context,
                                    std::span<const std::byte> payload,
                                    std::span<const MutableSectionTensor> tensors);

}  // namespace sluice::mixed_sparse
