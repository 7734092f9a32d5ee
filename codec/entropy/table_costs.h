// What symbols cost in tables of 2^11 slots, in integers of 1/256 bit.
// Where in the flow: the families are built with them; encoders choose by them.
#pragma once

#include <cstdint>

#include "codec/entropy/tables.h"

namespace sluice::entropy {

// -log2(frequency / kTableSlots), rounded to nearest.
[[nodiscard]] std::int32_t table_cost(std::uint32_t frequency);

// What coding two rows at once costs more than one by one, expected under the table itself.
[[nodiscard]] std::int32_t expected_pair_loss(const Frequencies& table);

}  // namespace sluice::entropy
