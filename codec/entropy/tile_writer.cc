#include "codec/entropy/tile_writer.h"

#include <algorithm>
#include <cstring>

namespace sluice::entropy {

Blocks::Blocks(const SymbolMatrix& matrix, const TileArea& area, const RowOrder& order,
               std::vector<std::int16_t>& memory)
    : rows_(area.rows), symbols_(memory) {
  const std::int64_t places = groups_of(area.columns) * area.rows * kLanes;
  if (area.columns % kLanes != 0) memory.clear();  // lanes that are not in use hold 0
  memory.resize(static_cast<std::size_t>(places));
  // Whole rows after each other: they lie side by side in the matrix.
  for (std::int64_t line = 0; line < area.rows; ++line) {
    const std::int64_t row =
        area.row + (order.rows.empty() ? line : order.rows[static_cast<std::size_t>(line)]);
    const std::int16_t* const from = matrix.symbols.data() + row * matrix.columns + area.column;
    const std::int64_t whole_groups = area.columns / kLanes;
    for (std::int64_t group = 0; group < whole_groups; ++group) {
      std::memcpy(at(group, line), from + group * kLanes, sizeof(std::int16_t[kLanes]));
    }
    const std::int64_t rest = area.columns % kLanes;
    if (rest > 0) std::copy_n(from + whole_groups * kLanes, rest, at(whole_groups, line));
  }
}

bool Blocks::is_zero() const {
  return std::all_of(symbols_.begin(), symbols_.end(), [](std::int16_t s) { return s == 0; });
}

void take_exceptions(Blocks& blocks, std::int64_t group, int lane, const Frequencies& table,
                     std::int32_t centre, const Run& run, std::vector<Exception>& exceptions) {
  const auto stand_in = static_cast<std::int16_t>(centre + table.mode());
  for (std::int64_t line = run.begin; line < run.end; ++line) {
    std::int16_t& symbol = blocks.at(group, line)[lane];
    if (table.has(symbol - centre)) continue;
    const std::int64_t place = (group * blocks.rows() + line) * kLanes + lane;
    exceptions.push_back({static_cast<std::uint16_t>(place), symbol});
    symbol = stand_in;
  }
}

void put_exceptions(std::vector<Exception> exceptions, ByteWriter& out) {
  std::sort(exceptions.begin(), exceptions.end(),
            [](const Exception& a, const Exception& b) { return a.place < b.place; });
  for (const Exception& exception : exceptions) {
    out.put(exception.place);
    out.put(exception.symbol);
  }
}

void put_flags(const std::vector<bool>& flags, ByteWriter& out) {
  for (std::size_t first = 0; first < flags.size(); first += 8) {
    unsigned byte = 0;
    for (std::size_t i = first; i < std::min(first + 8, flags.size()); ++i) {
      byte |= static_cast<unsigned>(flags[i]) << (i - first);
    }
    out.put(static_cast<std::uint8_t>(byte));
  }
}

FieldValues field_values(std::span<const ColumnModel> models) {
  FieldValues values;
  std::size_t lane = 0;
  for (const ColumnModel& model : models) {
    values.of_field[0][lane] = model.scale;
    values.of_field[1][lane] = model.kind;
    values.of_field[2][lane] = model.centre;
    ++lane;
  }
  return values;
}

StreamWriter::StreamWriter(std::int64_t places, const Kernels& kernels,
                           std::vector<std::byte>& memory)
    : kernels_(kernels), room_(memory) {
  constexpr std::int64_t kMargin = 64;  // kernels may write so far below their words
  memory.resize(static_cast<std::size_t>(kMargin + places * kWordBytes));
  std::fill(std::begin(state_.lanes), std::end(state_.lanes), kLowerBound);
  state_.words = room_.data() + room_.size();
}

void StreamWriter::put_run(const LaneTables& lanes, const Run& run, bool paired,
                           const std::int16_t* group) {
  const std::int16_t* const symbols = group + run.begin * kLanes;
  const std::int64_t rows = run.end - run.begin;
  const std::int64_t pairs = paired ? rows / 2 : 0;
  if (rows > 2 * pairs) {
    kernels_.encode_singles(state_, lanes.encode_lanes(false), rows - 2 * pairs,
                            symbols + 2 * pairs * kLanes);
  }
  if (pairs > 0) kernels_.encode_pairs(state_, lanes.encode_lanes(true), pairs, symbols);
}

void StreamWriter::append_to(ByteWriter& out, int used_lanes) const {
  for (int lane = 0; lane < used_lanes; ++lane) out.put(state_.lanes[lane]);
  out.put_bytes({state_.words, room_.data() + room_.size()});
}

}  // namespace sluice::entropy
