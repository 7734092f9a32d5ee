// What a real model made of a decoded cache: the facts that `codec judge` adds to a codec profile.
// Where in the flow: beside a level's size and times, read and written with the profile.
// Surprise: means and intervals are over documents, p99 and maximum over all their positions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "base/json_reader.h"

namespace sluice {

// A mean over documents and its 95 % bootstrap interval.
struct JudgedMean {
  double mean = 0, low = 0, high = 0;
};

// The model went on from the decoded cache with given tokens; compared with the undamaged cache.
struct JudgedContinuation {
  std::int64_t documents = 0;
  JudgedMean delta_ppl_percent;  // of the perplexity
  JudgedMean kl;                 // nats per position
  double kl_p99 = 0, kl_max = 0;
  JudgedMean top1;             // share of positions with the same most probable token
  double greedy_match = 0;     // of 64 greedy tokens, those before the first that differs
  double attention_error = 0;  // |o' - o| / |o| under the continuation's own queries
};

struct Judged {
  JudgedContinuation same_document;
  JudgedContinuation unrelated_question;  // and unrelated text after it
  JudgedContinuation repeat;  // of an earlier passage, verbatim: where damage shows first
};

[[nodiscard]] Judged read_judged(JsonReader in);
[[nodiscard]] nlohmann::ordered_json to_json(const Judged& judged);

}  // namespace sluice
