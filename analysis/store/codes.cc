#include "analysis/store/codes.h"

namespace sluice {

std::string to_text(ChunkAction action) {
  switch (action) {
    case ChunkAction::kFetched:
      return "fetched";
    case ChunkAction::kRecomputed:
      return "recomputed";
    case ChunkAction::kReused:
      return "reused";
    case ChunkAction::kNone:
      break;
  }
  return "none";
}

std::string to_text(LoadOutcome outcome) {
  switch (outcome) {
    case LoadOutcome::kCompleted:
      return "completed";
    case LoadOutcome::kFailed:
      return "failed";
    case LoadOutcome::kUnfinished:
      break;
  }
  return "unfinished";
}

std::string to_text(TraceKind kind) {
  return kind == TraceKind::kCapacity ? "capacity" : "achieved-throughput";
}

std::int64_t code_of(ChunkAction action) {
  switch (action) {
    case ChunkAction::kFetched:
      return 0;
    case ChunkAction::kRecomputed:
      return 1;
    case ChunkAction::kReused:
      return 3;
    case ChunkAction::kNone:
      break;
  }
  return 2;
}

std::int64_t code_of(LoadOutcome outcome) {
  switch (outcome) {
    case LoadOutcome::kCompleted:
      return 0;
    case LoadOutcome::kFailed:
      return 1;
    case LoadOutcome::kUnfinished:
      break;
  }
  return 2;
}

ChunkAction chunk_action_from(std::int64_t code) {
  if (code == 0) return ChunkAction::kFetched;
  if (code == 3) return ChunkAction::kReused;
  return code == 1 ? ChunkAction::kRecomputed : ChunkAction::kNone;
}

LoadOutcome load_outcome_from(std::int64_t code) {
  if (code == 0) return LoadOutcome::kCompleted;
  return code == 1 ? LoadOutcome::kFailed : LoadOutcome::kUnfinished;
}

TraceKind trace_kind_from(std::string_view word) {
  return word == "capacity" ? TraceKind::kCapacity : TraceKind::kAchievedThroughput;
}

}  // namespace sluice
