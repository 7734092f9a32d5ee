// The rules that a section table must keep, once its entries have been read.
#pragma once

#include <optional>
#include <string>

#include "codec/container/header.h"

namespace sluice::container {

// What is wrong, or nothing. Proves what header.h promises: sections tile the file from the header
// to its end; each base covers tensors that no other base covers, and all that have elements are
// covered; the refinements of a base count 1, 2, … in the order of the table. `header.shape` has
// passed check_shape().
[[nodiscard]] std::optional<std::string> fault_of_sections(const ContainerHeader& header);

}  // namespace sluice::container
