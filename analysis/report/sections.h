// The parts of one block of the page, each from values to markup.
#pragma once

#include <string>

#include "analysis/report/block.h"

namespace sluice {

// Names the block's elements, so that several blocks can stand on one page.
struct BlockPlace {
  std::string store_file;  // as the reader named it, for the commands
  std::string anchor;      // id of the block's element
};

// block_head.cc: what was asked, of what, and the answer in a paragraph.
[[nodiscard]] std::string head_section(const ReportBlock& block);
// policy_table.cc: one row per policy.
[[nodiscard]] std::string policy_table_section(const ReportBlock& block);
// figures.cc
[[nodiscard]] std::string violation_figure(const ReportBlock& block);
[[nodiscard]] std::string ttft_figure(const ReportBlock& block);
[[nodiscard]] std::string difference_figure(const ReportBlock& block);
// load_section.cc: the timeline and what each policy decided; empty when there is no load.
[[nodiscard]] std::string load_section(const ReportBlock& block, const BlockPlace& place);
// block_foot.cc: commands, hashes, what is not modelled.
[[nodiscard]] std::string foot_section(const ReportBlock& block, const BlockPlace& place);

// An argument vector as a command that a shell reads back as the same arguments; our programs as
// `./sluice NAME`.
[[nodiscard]] std::string command_text(const std::vector<std::string>& arguments);

}  // namespace sluice
