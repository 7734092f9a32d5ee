// Entropy coding of a matrix of symbols: the calls that codecs make.
// Where in the flow: between a codec's quantiser and the container's section; the bits are in
// spec.md.
// Surprise: a plane is cut into tiles that decode alone, so that many cores, warps or blocks can
// share one matrix; each tile carries its own column models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "codec/entropy/stats.h"

namespace sluice::entropy {

enum class PlaneModel : std::uint8_t {
  kClassFamily = 0,  // a table of the fixed family per column
  kShipped = 1,      // a 33 x 16-bit distribution per column in the stream; symbols -16 to 15 only
};

struct PlaneOptions {
  PlaneModel model = PlaneModel::kClassFamily;
  // Tiles hold whole units of this many columns (the head size, say) as far as they fit.
  std::int64_t column_unit = 1;
};

// A plane of n symbols has at least n / kMaxElementsPerByte bytes: what a decoder may allocate.
inline constexpr std::int64_t kMaxElementsPerByte = 256;

struct EncodedPlane {
  std::vector<std::byte> bytes;
  EntropyStats stats;  // order0_bits is left to the caller: see order0_bits()
};

// Same matrix, same bytes. Any symbols with the class family. `matrix.symbols` holds rows * columns
// symbols; at most 2^31 of them.
[[nodiscard]] EncodedPlane encode_plane(const SymbolMatrix& matrix, const PlaneOptions& options);

// Decodes the plane at the start of `bytes` into `symbols` [row, column] (rows * columns of them)
// and returns how many bytes it took. Any bytes are safe: a wrong plane is an Error or wrong
// symbols. The Error has no file: the caller adds it.
[[nodiscard]] Result<std::size_t> decode_plane(std::span<const std::byte> bytes, std::int64_t rows,
                                               std::int64_t columns,
                                               std::span<std::int16_t> symbols);

}  // namespace sluice::entropy
