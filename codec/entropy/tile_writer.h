// The parts of a tile's encoder: its symbols in groups, the exceptions among them, the coder.
// Where in the flow: tile_encode.cc puts them together for each probability model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/bytes.h"
#include "codec/entropy/kernel.h"
#include "codec/entropy/lane_tables.h"
#include "codec/entropy/tile.h"

namespace sluice::entropy {

// The tile's symbols group by group, [group][row in coding order][kLanes]; unused lanes are 0.
class Blocks {
 public:
  Blocks(const SymbolMatrix& matrix, const TileArea& area, const RowOrder& order,
         std::vector<std::int16_t>& memory);
  [[nodiscard]] std::int16_t* at(std::int64_t group, std::int64_t line) {
    return symbols_.data() + (group * rows_ + line) * kLanes;
  }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] bool is_zero() const;

 private:
  std::int64_t rows_;
  std::vector<std::int16_t>& symbols_;
};

struct Exception {
  std::uint16_t place;  // (group * rows + row in coding order) * kLanes + lane
  std::int16_t symbol;
};

// Takes what the lane's table lacks out of the block; the table's mode stands in.
void take_exceptions(Blocks& blocks, std::int64_t group, int lane, const Frequencies& table,
                     std::int32_t centre, const Run& run, std::vector<Exception>& exceptions);

// Appends them in the order of their places.
void put_exceptions(std::vector<Exception> exceptions, ByteWriter& out);

// A bit per group, the first in the lowest.
void put_flags(const std::vector<bool>& flags, ByteWriter& out);

// The models of a group's columns as the symbols of three steps.
struct FieldValues {
  std::int16_t of_field[kNumFields][kLanes]{};
};
[[nodiscard]] FieldValues field_values(std::span<const ColumnModel> models);

// The coder of one tile, fed from the last step to the first.
class StreamWriter {
 public:
  StreamWriter(std::int64_t places, const Kernels& kernels, std::vector<std::byte>& memory);
  // Rows [run.begin, run.end) of a group; the last one alone when pairs leave it over.
  void put_run(const LaneTables& lanes, const Run& run, bool paired, const std::int16_t* group);
  // Rows one by one; `symbols` is [row][kLanes].
  void put_rows(const EncodeLanes& lanes, std::int64_t rows, const std::int16_t* symbols) {
    kernels_.encode_singles(state_, lanes, rows, symbols);
  }
  [[nodiscard]] std::int64_t word_bytes() const {
    return room_.data() + room_.size() - state_.words;
  }
  void append_to(ByteWriter& out, int used_lanes) const;

 private:
  const Kernels& kernels_;
  std::vector<std::byte>& room_;
  EncodeState state_;
};

}  // namespace sluice::entropy
