// Entropy coding of a matrix of symbols: the calls that codecs make.
// Where in the flow: between a codec's quantiser and the container's section; the bits are in
// spec.md.
// Surprise: a plane is cut into tiles that decode alone, so that many cores, warps or blocks can
// share one matrix; decoded symbols arrive in blocks of up to 32 columns, hot in the cache, so that
// a codec dequantises them where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "codec/backend.h"
#include "codec/bytes.h"
#include "codec/entropy/rules.h"
#include "codec/entropy/stats.h"
#include "codec/entropy/tables.h"

namespace sluice::entropy {

enum class PlaneModel : std::uint8_t {
  kClassFamily = 0,  // a table of the fixed family per column
  kShipped = 1,      // a 33 x 16-bit distribution per column in the stream; symbols -16 to 15 only
  kProfile = 2,      // tables that both sides hold in a model profile
  kDigits = 3,       // of encode_digits()
  kPeaked = 4,  // a table of the peaked family per column; for coefficients, narrow ones above all
};

// Tables of a model profile: which one each column of a plane uses, and around what.
struct ProfileTables {
  TableSet tables;
  std::vector<int> table_of_column;   // [column]
  std::vector<std::int16_t> centres;  // [column]
};

struct PlaneOptions {
  PlaneModel model = PlaneModel::kClassFamily;
  // Tiles hold whole units of this many columns (the head size, say) as far as they fit.
  std::int64_t column_unit = 1;
  // Per row, known to both sides: added to the scale of every column's table, for codecs whose step
  // differs from token to token. Not with shipped or profile tables; empty: none.
  std::span<const std::int8_t> row_shifts = {};
  // Encoders: tiles of as many rows as there are, up to 2048, instead of about 256: column models
  // follow the text less, and are paid once. Tiles of the class family whose symbols are all 0 then
  // are empty. Tiles of digits and of the peaked family are always so.
  bool prefers_tall_tiles = false;
  const ProfileTables* profile = nullptr;  // of kProfile
  Backend backend = best_backend();        // the bytes and the symbols do not depend on it
};

// Memory that the tiles of a plane share.
struct EncodeScratch {
  std::vector<std::int16_t> blocks;
  std::vector<std::byte> room;
};

// A plane of n symbols has at least n / kMaxElementsPerByte bytes: what a decoder may allocate.
inline constexpr std::int64_t kMaxElementsPerByte = 256;

// Encodes planes one after the other, each appended to `out`; its memory serves all of them. Same
// matrix, same bytes. Any symbols with the class family and profiles. `matrix.symbols` holds rows *
// columns symbols; at most 2^31 of them.
class PlaneEncoder {
 public:
  explicit PlaneEncoder(ByteWriter& out) : out_(out) {}
  // order0_bits is left to the caller: see order0_bits().
  EntropyStats encode(const SymbolMatrix& matrix, const PlaneOptions& options);

 private:
  ByteWriter& out_;
  EncodeScratch scratch_;
};

struct EncodedPlane {
  std::vector<std::byte> bytes;
  EntropyStats stats;
};
// One plane alone.
[[nodiscard]] EncodedPlane encode_plane(const SymbolMatrix& matrix, const PlaneOptions& options);

// Decoded symbols of up to 32 neighbouring columns.
struct SymbolBlock {
  std::int64_t row = 0, rows = 0;         // of the plane
  std::int64_t column = 0;                // the first
  int columns = 0;                        // 1 to kLanes
  const std::int16_t* symbols = nullptr;  // [row][kLanes]
  // Which row each line of `symbols` is, counted from `row`; null: in order.
  const std::uint16_t* order = nullptr;
};

class BlockSink {
 public:
  virtual ~BlockSink() = default;
  // Where the peaked family's blocks are decoded to, [row][kLanes]: room that take() then finds
  // filled, to save a copy; null: anywhere.
  virtual std::int16_t* room(std::int64_t column, std::int64_t rows) {
    (void)column;
    (void)rows;
    return nullptr;
  }
  virtual void take(const SymbolBlock& block) = 0;
};

// Decodes the plane at the start of `bytes`, block by block, and returns how many bytes it took.
// Any bytes are safe: a wrong plane is an Error (after some blocks, maybe) or wrong symbols. The
// Error has no file: the caller adds it. Of the options, the model and the unit are the stream's.
[[nodiscard]] Result<std::size_t> decode_plane(std::span<const std::byte> bytes, std::int64_t rows,
                                               std::int64_t columns, const PlaneOptions& options,
                                               BlockSink& sink);

// The same into `symbols` [row, column], rows * columns of them.
[[nodiscard]] Result<std::size_t> decode_plane(std::span<const std::byte> bytes, std::int64_t rows,
                                               std::int64_t columns, const PlaneOptions& options,
                                               std::span<std::int16_t> symbols);

// Encodes digits -1, 0, 1, [row, column], that refine the symbols of `coarse`: the finer symbol is
// 3
// * coarse + digit, modulo 2^16. Of the options, the row shifts and the backend count. A shift is
// that of the coarse symbols. The plane is not padded: kMaxElementsPerByte does not hold for it.
[[nodiscard]] EncodedPlane encode_digits(const SymbolMatrix& coarse,
                                         std::span<const std::int8_t> digits,
                                         const PlaneOptions& options);

// Decodes the plane of digits at the start of `bytes`, turns the coarse `symbols` [row, column]
// into the finer ones, and returns how many bytes it took. Any bytes are safe, as for
// decode_plane(); after an Error the symbols are unspecified.
[[nodiscard]] Result<std::size_t> decode_digits(std::span<const std::byte> bytes, std::int64_t rows,
                                                std::int64_t columns, const PlaneOptions& options,
                                                std::span<std::int16_t> symbols);

}  // namespace sluice::entropy
