// Constants of the .kvb header that its writer and its parser share; spec.md explains them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::container {

inline constexpr char kMagic[] = {'\x89', 'K', 'V', 'B', '\r', '\n', '\x1a', '\n'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kSealedFlag = 1;        // sections and header carry AES-GCM tags
inline constexpr std::uint32_t kModelProfileFlag = 2;  // the header names a model profile
inline constexpr std::uint32_t kReducedFlag = 4;       // the header says which tokens were kept
inline constexpr std::uint32_t kKnownFlags = kSealedFlag | kModelProfileFlag | kReducedFlag;
inline constexpr std::size_t kPreludeBytes = 32;  // magic to file size
inline constexpr std::size_t kChecksumBytes = 4;  // at the end of the header
inline constexpr std::size_t kTextBytesMax = 4096;
inline constexpr std::size_t kRopeBytesMax = 1 << 20;
inline constexpr std::size_t kLayerBytesMin = 52;
inline constexpr std::size_t kSectionBytes = 40;

// Codes below 0x20, and 0x7f: in no text of the header.
[[nodiscard]] constexpr bool has_control_characters(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return true;
  }
  return false;
}

enum class LayerForm : std::uint8_t { kKeyValue = 0, kLatent = 1 };

}  // namespace sluice::container
