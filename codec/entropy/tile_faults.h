// What a decoder finds wrong in a tile, in the words of every backend.
// Where in the flow: tile_decode.cc returns the texts, a kernel on a GPU their numbers.
#pragma once

#include <cstdint>

namespace sluice::entropy {

enum class TileFault : std::uint8_t {
  kNone,
  kTooShort,
  kBadEnd,
  kBadModel,
  kBadException,
  kBadTable
};
[[nodiscard]] constexpr const char* to_text(TileFault fault) {
  switch (fault) {
    case TileFault::kTooShort:
      return "a tile that ends too early";
    case TileFault::kBadEnd:
      return "a tile whose lanes do not end where they began";
    case TileFault::kBadModel:
      return "a column model outside the class family";
    case TileFault::kBadException:
      return "an exception out of place";
    case TileFault::kBadTable:
      return "a shipped table that is no distribution";
    case TileFault::kNone:
      break;
  }
  return "nothing";
}

}  // namespace sluice::entropy
