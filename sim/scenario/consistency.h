// Rules across the fields of a scenario, checked once all of them have been read.
// Where in the flow: the last step of the scenario parser.
#pragma once

#include "sim/scenario/fields.h"
#include "sim/scenario/scenario.h"

namespace sluice {

// Adds to the errors of `top`: fields that contradict each other, a link that cannot be made, an
// amount of work that fits into no memory or would never end.
void check_consistency(Fields& top, const Scenario& scenario);

}  // namespace sluice
