// The whole page from its blocks.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/block.h"

namespace sluice {

// `store_file` as the reader named it, for the commands. There is at least one block.
[[nodiscard]] std::string page(const std::vector<ReportBlock>& blocks, const ReportOptions& options,
                               const std::string& store_file);

}  // namespace sluice
