// Which bytes of a container a request means: all, some layers, or only further refinements.
// Where in the flow: the server reads these pieces; a client that asked for a part puts each at its
// place in a buffer of the container's size, from which codec/container/decode.h decodes sections.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "codec/container/header.h"

namespace sluice {

struct SectionChoice {
  // Sections of refinements above this alone; nullopt: all.
  std::optional<std::int32_t> above_refinement;
  struct Layers {
    std::int64_t first = 0, count = 0;  // numbers in the model
  };
  std::optional<Layers> layers;  // sections that hold one of these; nullopt: all
};

struct FilePiece {
  std::int64_t offset = 0;  // in the container
  std::int64_t size = 0;
  bool operator==(const FilePiece&) const = default;
};

// The header first, then the sections in order, neighbours joined. Errors: a choice without any
// section. The error has no file.
[[nodiscard]] Result<std::vector<FilePiece>> choose_pieces(const ContainerHeader& header,
                                                           const SectionChoice& choice);
[[nodiscard]] std::int64_t total_size(const std::vector<FilePiece>& pieces);

// The highest refinement of any section.
[[nodiscard]] std::int32_t highest_refinement(const ContainerHeader& header);

}  // namespace sluice
