// One tile of plane model 4, beside tile.h, which calls these; spec.md, section 10.
#pragma once

#include "codec/entropy/tile.h"

namespace sluice::entropy {

// As encode_tile() and decode_tile().
[[nodiscard]] std::int64_t encode_peaked_tile(const SymbolMatrix& matrix, const TileArea& area,
                                              const PlaneOptions& options, EncodeScratch& scratch,
                                              ByteWriter& out);
[[nodiscard]] const char* decode_peaked_tile(std::span<const std::byte> bytes, const TileArea& area,
                                             const PlaneOptions& options,
                                             std::span<std::int16_t> block, BlockSink& sink);

}  // namespace sluice::entropy
