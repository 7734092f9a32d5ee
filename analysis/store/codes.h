// Enumerators as the words that the tables hold, and back. The tables' CHECKs allow no other word.
#pragma once

#include <string>
#include <string_view>

#include "sim/session/record.h"
#include "traces/link_trace.h"

namespace sluice {

[[nodiscard]] std::string to_text(ChunkAction action);
[[nodiscard]] std::string to_text(LoadOutcome outcome);
[[nodiscard]] std::string to_text(TraceKind kind);
[[nodiscard]] ChunkAction chunk_action_from(std::string_view word);
[[nodiscard]] LoadOutcome load_outcome_from(std::string_view word);
[[nodiscard]] TraceKind trace_kind_from(std::string_view word);

}  // namespace sluice
