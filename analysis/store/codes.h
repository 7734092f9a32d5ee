// Enumerators as the tables hold them, as words for people, and back. The tables' CHECKs allow no
// others.
// Surprise: the codes are part of the file format; a new enumerator goes to the end.
#pragma once

#include <string>
#include <string_view>

#include "sim/session/record.h"
#include "traces/link_trace.h"

namespace sluice {

[[nodiscard]] std::string to_text(ChunkAction action);
[[nodiscard]] std::string to_text(LoadOutcome outcome);
[[nodiscard]] std::string to_text(TraceKind kind);
[[nodiscard]] std::int64_t code_of(ChunkAction action);
[[nodiscard]] std::int64_t code_of(LoadOutcome outcome);
[[nodiscard]] ChunkAction chunk_action_from(std::int64_t code);
[[nodiscard]] LoadOutcome load_outcome_from(std::int64_t code);
[[nodiscard]] TraceKind trace_kind_from(std::string_view word);

}  // namespace sluice
