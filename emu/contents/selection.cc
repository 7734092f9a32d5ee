#include "emu/contents/selection.h"

#include <algorithm>

namespace sluice {
namespace {

bool is_chosen(const ContainerHeader& header, const SectionEntry& section,
               const SectionChoice& choice) {
  if (choice.above_refinement && section.refinement <= *choice.above_refinement) return false;
  if (!choice.layers) return true;
  const auto& layers = header.shape.layers;
  for (std::size_t i = 0; i < section.num_entries; ++i) {
    const std::int64_t layer = layers[section.first_entry + i].layer;
    if (layer >= choice.layers->first && layer - choice.layers->first < choice.layers->count)
      return true;
  }
  return false;
}

}  // namespace

Result<std::vector<FilePiece>> choose_pieces(const ContainerHeader& header,
                                             const SectionChoice& choice) {
  std::vector<FilePiece> pieces = {{.offset = 0, .size = header.header_size.bytes()}};
  std::size_t chosen = 0;
  for (const SectionEntry& section : header.sections) {
    if (!is_chosen(header, section, choice)) continue;
    ++chosen;
    FilePiece& last = pieces.back();
    if (last.offset + last.size == section.offset) {
      last.size += section.size.bytes();
    } else {
      pieces.push_back({.offset = section.offset, .size = section.size.bytes()});
    }
  }
  if (chosen == 0 && !header.sections.empty()) {
    return error_in("", "no section has such layers or refinements",
                    "ask for layers and refinements that the container's header names");
  }
  return pieces;
}

std::int64_t total_size(const std::vector<FilePiece>& pieces) {
  std::int64_t total = 0;
  for (const FilePiece& piece : pieces) total += piece.size;
  return total;
}

std::int32_t highest_refinement(const ContainerHeader& header) {
  std::int32_t highest = 0;
  for (const SectionEntry& section : header.sections)
    highest = std::max(highest, section.refinement);
  return highest;
}

}  // namespace sluice
