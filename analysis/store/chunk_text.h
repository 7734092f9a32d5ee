// The chunks of a load as one JSON text, as the column load.chunks holds them: a row per load is
// stored several times faster than a row per chunk.
// Where in the flow: written by write.cc, read by read_loads.cc; for people the view `chunk` shows
// it as a table (schema.cc).
// Surprise: instants are counted from the load's arrival, which makes them short. Damage is written
// with as many digits as give back the same number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/session/record.h"

namespace sluice {

// A chunk whose level and reason are rows of `phrase`; the texts of its record are empty.
struct StoredChunk {
  ChunkRecord record;
  std::int64_t level_id = 0, reason_id = 0;
};

// Appends one chunk: [index,tokens,action,level,bytes,damage,reason,requested,first_byte,arrived,
// compute_began,resident], with null for an instant that never came. The damage must be finite.
void append_chunk(std::string& text, const ChunkRecord& chunk, std::int64_t level_id,
                  std::int64_t reason_id, Instant load_arrived);

// The chunks of "[[...],[...]]" into `chunks`. The error says where the text is not as it was
// written; it has no place.
[[nodiscard]] Status parse_chunks(std::string_view text, Instant load_arrived,
                                  std::vector<StoredChunk>& chunks);

}  // namespace sluice
