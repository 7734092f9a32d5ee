// What a server keeps of one context, without the bytes: sizes, hashes and decode times of every
// chunk at every level.
// Where in the flow: stands beside the chunks on disk (catalogue.json), travels to clients as it
// is, and gives a plan its sizes and times. Surprise: a catalogue may be anyone's;
// parse_catalogue() proves ranges, never that bytes exist.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "emu/contents/content_hash.h"

namespace sluice {

struct ContextId {
  std::uint64_t value = 0;
  auto operator<=>(const ContextId&) const = default;
};

// One chunk at one level, as it is stored.
struct ChunkVersion {
  DataSize size;                   // of the container, header included
  std::uint64_t encoded_hash = 0;  // hash_bytes() of them
  TensorHash tensor_hash;          // of what they decode to
  // One decode of all of it into memory that was used before, the median of several, on
  // Catalogue::decode_threads threads of the host that made it.
  Duration decode_time{};
  DataSize header_size;
  // Of its sections by refinement, the base first; with the header they make `size`.
  std::vector<DataSize> refinement_sizes;

  // What travels when `lower` is here already: header and further refinements; nullopt when this
  // does not extend `lower`.
  [[nodiscard]] std::optional<DataSize> size_beyond(const ChunkVersion& lower) const;
};

struct ChunkEntry {
  std::int64_t tokens = 0;
  std::int64_t elements = 0;           // decoded
  DataSize decoded_size;               // in memory
  DataSize text_size;                  // zero: no text is kept
  std::uint64_t text_hash = 0;         // hash_bytes()
  std::vector<ChunkVersion> versions;  // one per level
};

struct Catalogue {
  ContextId context;
  std::string model;  // geometry's id
  std::string
      values;        // where they come from, in words: "capture FILE, tiled", "made values, seed 1"
  std::string host;  // that measured the decode times
  std::int32_t decode_threads = 1;
  std::vector<std::string> levels;  // "cachegen-released@2", as in the ladder
  std::vector<ChunkEntry> chunks;

  // Null when there is no such chunk or level.
  [[nodiscard]] const ChunkVersion* find(std::int64_t chunk, std::int64_t level) const;
  [[nodiscard]] std::int64_t tokens() const;
};

// JSON, format sluice-emu-catalogue-2.
[[nodiscard]] std::string to_json(const Catalogue& catalogue);
// `name` is for errors. At most kCatalogueBytesMax.
[[nodiscard]] Result<Catalogue> parse_catalogue(std::string_view text, const std::string& name);
inline constexpr std::size_t kCatalogueBytesMax = std::size_t{64} << 20;

}  // namespace sluice
