#include "codec/entropy/cuda_tables.h"

#include <vector>

#include "codec/entropy/cuda_upload.h"

namespace sluice::entropy {
namespace {

void describe_offsets(const ClassFamily& family, ClassTables& tables) {
  const TableSet& set = family.tables;
  const auto number = [](std::uint32_t offset) { return static_cast<std::int32_t>(offset); };
  for (std::int32_t scale = 0; scale < kNumScales; ++scale) {
    for (std::int32_t kind = 0; kind < kNumKinds; ++kind) {
      const int table = family.table(scale, kind);
      const bool has_pairs = set.has_pairs(table);
      tables.singles[scale][kind] = number(set.slot_offset(table, false));
      tables.pairs[scale][kind] = has_pairs ? number(set.slot_offset(table, true)) : -1;
      tables.single_symbols[scale][kind] = set.symbol_offset(table, false);
      tables.pair_symbols[scale][kind] = has_pairs ? set.symbol_offset(table, true) : 0;
    }
  }
  tables.kinds = number(set.slot_offset(family.kind_table, false));
  tables.kind_symbols = set.symbol_offset(family.kind_table, false);
}

Result<DeviceBuffer> upload_tables() {
  const ClassFamily& family = class_family();
  const TableSet& set = family.tables;
  const auto num_tables = static_cast<std::size_t>(set.size());
  const FamilyFacts facts = family.facts();
  std::vector<std::int16_t> modes;
  for (int table = 0; table < set.size(); ++table)
    modes.push_back(static_cast<std::int16_t>(set.frequencies(table).mode()));

  ClassTables tables{};
  describe_offsets(family, tables);
  DeviceImage<ClassTables> image;
  const std::size_t slots = image.add(set.slots(), set.num_slots());
  const std::size_t symbols = image.add(set.symbols(), set.num_symbols());
  const std::size_t costs = image.add(facts.costs, num_tables * kCostSpan);
  const std::size_t kind_costs = image.add(facts.kind_costs, kNumKinds);
  const std::size_t means = image.add(facts.means, num_tables);
  const std::size_t flatness = image.add(facts.flatness, num_tables);
  const std::size_t firsts = image.add(facts.firsts, num_tables);
  const std::size_t lasts = image.add(facts.lasts, num_tables);
  const std::size_t sigma = image.add(facts.sigma, kNumScales);
  const std::size_t place = image.add(facts.place, kNumScales * kNumKinds);
  const std::size_t own = image.add(facts.own, kNumScales * kNumKinds);
  const std::size_t mode = image.add(modes.data(), num_tables);
  const std::size_t pair_loss = image.add(family.pair_loss.data(), num_tables);

  return image.upload(tables, [&](ClassTables& at_device, const std::byte* base_dev) {
    point_at(at_device.slots, base_dev, slots);
    point_at(at_device.symbols, base_dev, symbols);
    point_at(at_device.facts.costs, base_dev, costs);
    point_at(at_device.facts.kind_costs, base_dev, kind_costs);
    point_at(at_device.facts.means, base_dev, means);
    point_at(at_device.facts.flatness, base_dev, flatness);
    point_at(at_device.facts.firsts, base_dev, firsts);
    point_at(at_device.facts.lasts, base_dev, lasts);
    point_at(at_device.facts.sigma, base_dev, sigma);
    point_at(at_device.facts.place, base_dev, place);
    point_at(at_device.facts.own, base_dev, own);
    point_at(at_device.modes, base_dev, mode);
    point_at(at_device.pair_loss, base_dev, pair_loss);
  });
}

}  // namespace

Result<const ClassTables*> class_tables_on_device() {
  static OncePerDevice<ClassTables> tables;
  return tables.get(upload_tables);
}

}  // namespace sluice::entropy
