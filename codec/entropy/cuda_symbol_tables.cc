#include "codec/entropy/cuda_symbol_tables.h"

#include "codec/entropy/cuda_upload.h"

namespace sluice::entropy {
namespace {

Result<DeviceBuffer> upload_peaked() {
  const PeakedFamily& family = peaked_family();
  const TableSet& set = family.tables;
  PeakedTables tables{};
  for (std::int32_t scale = 0; scale < kNumPeakedScales; ++scale) {
    for (std::int32_t kind = 0; kind < kNumPeakedKinds; ++kind) {
      const int table = family.table(scale, kind);
      tables.singles[scale][kind] = static_cast<std::int32_t>(set.slot_offset(table, false));
      tables.pairs[scale][kind] =
          set.has_pairs(table) ? static_cast<std::int32_t>(set.slot_offset(table, true)) : -1;
      tables.lows[scale][kind] = family.lows[static_cast<std::size_t>(table)];
      tables.highs[scale][kind] = family.highs[static_cast<std::size_t>(table)];
    }
  }
  tables.kinds = static_cast<std::int32_t>(set.slot_offset(family.kind_table, false));
  DeviceImage<PeakedTables> image;
  const std::size_t slots = image.add(set.slots(), set.num_slots());
  return image.upload(tables, [&](PeakedTables& at_device, const std::byte* base_dev) {
    point_at(at_device.slots, base_dev, slots);
  });
}

Result<DeviceBuffer> upload_digits() {
  DigitTables tables;
  static_assert(sizeof tables.tables == sizeof digit_family().tables);
  std::memcpy(tables.tables, digit_family().tables, sizeof tables.tables);
  return DeviceImage<DigitTables>().upload(tables, [](DigitTables&, const std::byte*) {});
}

}  // namespace

Result<const PeakedTables*> peaked_tables_on_device() {
  static OncePerDevice<PeakedTables> tables;
  return tables.get(upload_peaked);
}
Result<const DigitTables*> digit_tables_on_device() {
  static OncePerDevice<DigitTables> tables;
  return tables.get(upload_digits);
}

}  // namespace sluice::entropy
