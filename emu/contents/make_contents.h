// Contents of any model geometry: real values of a capture tiled onto it, or made ones, encoded at
// every level of a ladder.
// Where in the flow: before an emulated run; `emu serve --make`.
// Surprises: one chunk's tensors are in memory at a time; chunks begin at different places of the
// source, so no two are equal; made values are no real cache, and the catalogue says so.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codec/geometry/geometry.h"
#include "codec/registry.h"
#include "emu/contents/contents.h"

namespace sluice {

struct ContentsSpec {
  ContextId context;
  ModelGeometry model;
  std::vector<CodecLevel> levels;                // in the order of the ladder
  std::vector<std::int64_t> chunk_tokens;        // of each chunk, > 0
  std::optional<std::filesystem::path> capture;  // absent: made values
  std::uint64_t seed = 1;                        // of made values and of text
  // Of each token, in the chunk's text; zero: no text.
  DataSize text_per_token;
  std::size_t layers_per_section = 8;
  int threads = 2;         // > 0; of making
  int decode_threads = 1;  // > 0; of the decodes that are timed
  // A new or empty folder; absent: everything stays in memory.
  std::optional<std::filesystem::path> folder;
  // After each chunk and level.
  std::function<void(std::int64_t done, std::int64_t all)> on_progress;
};

[[nodiscard]] Result<ContextContents> make_contents(const ContentsSpec& spec);

// tokens, chunk by chunk, the last one shorter.
[[nodiscard]] std::vector<std::int64_t> cut_into_chunks(std::int64_t tokens,
                                                        std::int64_t chunk_tokens);

}  // namespace sluice
