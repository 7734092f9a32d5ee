// A digit tile's bytes: each group of columns is gathered from the matrix, refined, and put back.
#include <algorithm>
#include <cstring>
#include <vector>

#include "codec/entropy/digit_lanes.h"
#include "codec/entropy/stream_reader.h"
#include "codec/entropy/tile_faults.h"

namespace sluice::entropy {
namespace {

// The symbols of a group, in coding order, and back.
class GroupOfMatrix {
 public:
  GroupOfMatrix(const TileArea& area, const RowOrder& order, std::int64_t group,
                std::int64_t columns, std::span<std::int16_t> symbols)
      : order_(order),
        rows_(area.rows),
        columns_(columns),
        bytes_(static_cast<std::size_t>(lanes_of(area.columns, group)) * sizeof(std::int16_t)),
        corner_(symbols.data() + area.row * columns + area.column + group * kLanes) {}
  void gather(std::int16_t* block) const {
    for (std::int64_t line = 0; line < rows_; ++line) {
      std::memcpy(block + line * kLanes, row(line), bytes_);
    }
  }
  void scatter(const std::int16_t* block) const {
    for (std::int64_t line = 0; line < rows_; ++line) {
      std::memcpy(row(line), block + line * kLanes, bytes_);
    }
  }

 private:
  [[nodiscard]] std::int16_t* row(std::int64_t line) const {
    const std::int64_t row =
        order_.rows.empty() ? line : order_.rows[static_cast<std::size_t>(line)];
    return corner_ + row * columns_;
  }

  const RowOrder& order_;
  std::int64_t rows_, columns_;
  std::size_t bytes_;
  std::int16_t* corner_;
};

// The models of all columns, group by group; false when the words run out.
bool get_models(StreamReader& stream, const DigitFields& fields, std::vector<DigitModel>& models) {
  const auto columns = static_cast<std::int64_t>(models.size());
  for (std::int64_t group = 0; group < groups_of(columns); ++group) {
    const int lanes = lanes_of(columns, group);
    std::int16_t values[kNumDigitFields][kLanes];
    for (int field = 0; field < kNumDigitFields; ++field) {
      const auto tables = digit_field_lanes(fields, field, lanes);
      if (!stream.get_run(tables, {0, 1, 0}, false, values[field])) return false;
    }
    for (int lane = 0; lane < lanes; ++lane) {
      models[static_cast<std::size_t>(group * kLanes + lane)] = {values[0][lane], values[1][lane]};
    }
  }
  return true;
}

// What an empty tile means: every digit is 0.
void refine_with_zeros(const TileArea& area, std::int64_t columns,
                       std::span<std::int16_t> symbols) {
  for (std::int64_t row = area.row; row < area.row + area.rows; ++row) {
    std::int16_t* const at = symbols.data() + row * columns + area.column;
    std::transform(at, at + area.columns, at, [](std::int16_t q) { return refined(q, 0); });
  }
}

}  // namespace

const char* decode_digit_tile(std::span<const std::byte> bytes, const TileArea& area,
                              const PlaneOptions& options, std::int64_t columns,
                              std::span<std::int16_t> block, std::span<std::int16_t> symbols) {
  if (bytes.empty()) {
    refine_with_zeros(area, columns, symbols);
    return nullptr;
  }
  ByteReader in(bytes);
  DigitFields fields;
  fields.scale_table = in.get<std::uint8_t>();
  fields.scale_base = in.get<std::int8_t>();
  StreamReader stream(in, lanes_of(area.columns, 0), kernels_of(options.backend));
  if (!stream.is_whole()) return to_text(TileFault::kTooShort);
  if (fields.scale_table >= kNumScales) return to_text(TileFault::kBadModel);
  std::vector<DigitModel> models(static_cast<std::size_t>(area.columns));
  if (!get_models(stream, fields, models)) return to_text(TileFault::kTooShort);

  const RowOrder order = order_rows(area, options.row_shifts);
  std::fill(block.begin(), block.end(), std::int16_t{0});  // lanes that are not in use
  for (std::int64_t group = 0; group < groups_of(area.columns); ++group) {
    const GroupOfMatrix part(area, order, group, columns, symbols);
    const auto of_group =
        std::span(models).subspan(static_cast<std::size_t>(group * kLanes),
                                  static_cast<std::size_t>(lanes_of(area.columns, group)));
    part.gather(block.data());
    for (const Run& run : order.runs) {
      if (!stream.get_digits(digit_lanes(of_group, run.shift), run, block.data())) {
        return to_text(TileFault::kTooShort);
      }
    }
    part.scatter(block.data());
  }
  return stream.is_at_end() ? nullptr : to_text(TileFault::kBadEnd);
}

}  // namespace sluice::entropy
