#include "codec/entropy/digit_tables.h"

#include "codec/entropy/table_costs.h"

namespace sluice::entropy {
namespace {

#include "codec/entropy/digit_tables.inc"

DigitFamily build_family() {
  DigitFamily family{};
  for (std::int32_t shape = 0; shape < kNumDigitShapes; ++shape) {
    for (std::int32_t scale = 0; scale < kNumDigitScales; ++scale) {
      for (std::int32_t context = 0; context < kNumDigitContexts; ++context) {
        const auto& counts = kDigitFrequencies[shape][scale][context];
        family.tables[shape][scale][context] = pack_digits(counts[0], counts[1]);
        std::uint32_t start = 0;
        for (std::int32_t i = 0; i < 3; ++i) {
          const std::int32_t place = 3 * context + i;
          family.symbols[shape][scale][place] = encoding_symbol(counts[i], start);
          family.costs[shape][scale][place] = table_cost(counts[i]);
          start += counts[i];
        }
      }
    }
  }
  const auto share = static_cast<std::uint16_t>(kTableSlots / kNumDigitShapes);
  family.shapes.add({.first = 0, .counts = std::vector<std::uint16_t>(kNumDigitShapes, share)});
  return family;
}

}  // namespace

const DigitFamily& digit_family() {
  static const DigitFamily family = build_family();
  return family;
}

}  // namespace sluice::entropy
