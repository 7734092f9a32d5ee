#include "emu/client/assemble.h"

#include <algorithm>

#include "codec/container/header.h"
#include "emu/contents/selection.h"

namespace sluice {
namespace {

Error misfit(const std::string& name, std::string what) {
  return error_in(name, std::move(what), "fetch the chunk again");
}

bool is_same_section(const SectionEntry& a, const SectionEntry& b) {
  return a.first_entry == b.first_entry && a.num_entries == b.num_entries && a.kind == b.kind &&
         a.refinement == b.refinement && a.size == b.size;
}

void copy(std::span<const std::byte> from, std::int64_t at, std::int64_t size,
          std::span<std::byte> to, std::int64_t to_at) {
  std::copy_n(from.begin() + at, size, to.begin() + to_at);
}

}  // namespace

Result<std::vector<std::byte>> assemble_container(std::span<const std::byte> lower,
                                                  std::span<const std::byte> addition,
                                                  const std::string& name) {
  const Result<ContainerHeader> below = parse_header(lower, name);
  if (!below) return below.error();
  const Result<ContainerExtent> extent = parse_extent(addition, name);
  if (!extent) return extent.error();
  const auto header_bytes_here = static_cast<std::size_t>(extent->header_size.bytes());
  if (header_bytes_here > addition.size()) return misfit(name, "its header is cut");
  if (extent->file_size.bytes() > static_cast<std::int64_t>(lower.size() + addition.size()))
    return misfit(name, "is larger than its parts");
  std::vector<std::byte> whole(static_cast<std::size_t>(extent->file_size.bytes()));
  std::copy_n(addition.begin(), header_bytes_here, whole.begin());
  const Result<ContainerHeader> header = parse_header(whole, name);
  if (!header) return header.error();
  const auto pieces = choose_pieces(*header, {.above_refinement = highest_refinement(*below)});
  if (!pieces) return misfit(name, "refines nothing");
  if (total_size(*pieces) != static_cast<std::int64_t>(addition.size()))
    return misfit(name, "its sections do not fit what came");
  std::int64_t at = 0;
  for (const FilePiece& piece : *pieces) {
    copy(addition, at, piece.size, whole, piece.offset);
    at += piece.size;
  }
  for (const SectionEntry& section : header->sections) {
    if (section.refinement > highest_refinement(*below)) continue;
    const auto found = std::find_if(
        below->sections.begin(), below->sections.end(),
        [&](const SectionEntry& candidate) { return is_same_section(candidate, section); });
    if (found == below->sections.end()) return misfit(name, "does not extend what is here");
    copy(lower, found->offset, section.size.bytes(), whole, section.offset);
  }
  return whole;
}

}  // namespace sluice
