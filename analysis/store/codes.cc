#include "analysis/store/codes.h"

namespace sluice {

std::string to_text(ChunkAction action) {
  switch (action) {
    case ChunkAction::kFetched: return "fetched";
    case ChunkAction::kRecomputed: return "recomputed";
    case ChunkAction::kNone: break;
  }
  return "none";
}

std::string to_text(LoadOutcome outcome) {
  switch (outcome) {
    case LoadOutcome::kCompleted: return "completed";
    case LoadOutcome::kFailed: return "failed";
    case LoadOutcome::kUnfinished: break;
  }
  return "unfinished";
}

std::string to_text(TraceKind kind) {
  return kind == TraceKind::kCapacity ? "capacity" : "achieved-throughput";
}

ChunkAction chunk_action_from(std::string_view word) {
  if (word == "fetched") return ChunkAction::kFetched;
  return word == "recomputed" ? ChunkAction::kRecomputed : ChunkAction::kNone;
}

LoadOutcome load_outcome_from(std::string_view word) {
  if (word == "completed") return LoadOutcome::kCompleted;
  return word == "failed" ? LoadOutcome::kFailed : LoadOutcome::kUnfinished;
}

TraceKind trace_kind_from(std::string_view word) {
  return word == "capacity" ? TraceKind::kCapacity : TraceKind::kAchievedThroughput;
}

}  // namespace sluice
