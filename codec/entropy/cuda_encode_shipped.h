// The encoder of tiles with shipped tables: each lane measures and sends its column's distribution.
// Where in the flow: under cuda_encode.h. spec.md, section 7.
#pragma once

#include "codec/entropy/cuda_shipped.h"
#include "codec/entropy/cuda_stream_writer.h"

namespace sluice::entropy {

// A tile with its columns' distributions in front.
__device__ inline CodedTile encode_with_shipped(const TileSymbols& symbols, ShippedStarts& starts) {
  const TileToEncode& tile = symbols.tile;
  WarpStreamWriter stream(tile.room + tile.room_bytes);
  for (unsigned group = symbols.groups(); group-- > 0;) {
    const bool in_use = symbols.in_use(group);
    if (in_use) {
      std::byte* const distribution = tile.room + symbols.column(group) * kShippedBytes;
      starts.measure(symbols.start(group), symbols.plane.columns, tile.rows, distribution);
      (void)starts.build(distribution);
    }
    for (unsigned row = tile.rows; row-- > 0;) {
      EncodingSymbol symbol;
      if (in_use) {
        const auto place = static_cast<unsigned>(symbols.at(group, row) - kShippedFirst);
        const unsigned start = starts.start_of(place);
        symbol = encoding_symbol(starts.start_of(place + 1) - start, start);
      }
      stream.put(symbol, in_use);
    }
  }
  const unsigned used = tile.columns < kLanes ? tile.columns : kLanes;
  CodedTile coded;
  coded.front_bytes = tile.columns * kShippedBytes;
  if (lane_of_thread() < used) {
    store_u32(tile.room + coded.front_bytes + lane_of_thread() * sizeof(std::uint32_t),
              stream.state());
  }
  coded.front_bytes += used * static_cast<unsigned>(sizeof(std::uint32_t));
  coded.word_bytes = coded.symbol_bytes = stream.word_bytes();
  return coded;
}

}  // namespace sluice::entropy
