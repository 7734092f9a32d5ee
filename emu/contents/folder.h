// Where the files of one context lie in its folder, and what a header says of a version's sizes.
// Private to emu/contents.
#pragma once

#include <filesystem>
#include <vector>

#include "base/units.h"
#include "codec/container/header.h"

namespace sluice {

[[nodiscard]] std::filesystem::path catalogue_path(const std::filesystem::path& folder);
[[nodiscard]] std::filesystem::path chunk_path(const std::filesystem::path& folder,
                                               std::size_t chunk, std::size_t level);
[[nodiscard]] std::filesystem::path text_path(const std::filesystem::path& folder,
                                              std::size_t chunk);

// Of all sections, by refinement, the base first.
[[nodiscard]] std::vector<DataSize> refinement_sizes_of(const ContainerHeader& header);

}  // namespace sluice
