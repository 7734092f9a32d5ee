#include "codec/sluice/payload.h"

namespace sluice::ladder {

std::vector<std::int8_t> row_shifts(std::span<const std::int8_t> classes, bool has_classes) {
  std::vector<std::int8_t> shifts;
  if (!has_classes) return shifts;
  for (const std::int8_t k : classes) shifts.push_back(static_cast<std::int8_t>(-2 * k));
  return shifts;
}

entropy::PlaneOptions plane_options(std::int64_t column_unit, std::span<const std::int8_t> shifts,
                                    Backend backend) {
  return {.model = entropy::PlaneModel::kPeaked,
          .column_unit = column_unit,
          .row_shifts = shifts,
          .backend = backend};
}

void rotate_heads(const RotationTable& table, std::size_t row, std::int64_t dim,
                  std::span<float> channels, decltype(Kernels::rotate) rotate) {
  if (table.pairs == 0) return;
  const std::size_t at = row * static_cast<std::size_t>(table.pairs);
  for (std::size_t head = 0; head < channels.size(); head += static_cast<std::size_t>(dim)) {
    rotate(table.cosines.data() + at, table.sines.data() + at, table.pairs, table.pairing,
           channels.data() + head);
  }
}

}  // namespace sluice::ladder
