// How much each token of a context is attended to: which tokens a lossy codec should keep best, and
// which ones a reducer keeps at all.
// Where in the flow: measured on the whole context before it is cut into chunks; encoders get it by
// EncodeOptions::importance, decoders never need it.
// Surprise: it knows the queries that the capture holds and no others: those of its last tokens.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "codec/kv_cache.h"

namespace sluice {

struct Capture;  // codec/capture_format.h

// Queries at the context's end that SnapKV asks (Li et al. 2024, section 3: the observation
// window).
inline constexpr std::int64_t kObservedQueries = 32;

struct TokenImportance {
  // Of a layer that was asked: three sums of one attention (0 to 1 per query, head and token), each
  // with one number per token held, over all query heads.
  struct Layer {
    Positions positions;                  // of the tokens held
    std::vector<float> root_mean_square;  // over queries and heads
    std::vector<float> total;             // over queries, mean over heads
    std::vector<float> observed;          // the same over the last kObservedQueries queries alone
  };
  std::map<std::int64_t, Layer> layers;  // by number

  // Of each token that `layer` holds, one of the same context or a part of it; empty when the layer
  // was not asked or holds other tokens.
  [[nodiscard]] std::vector<float> of(
      const KvLayer<TensorView>& layer,
      std::vector<float> Layer::*measure = &Layer::root_mean_square) const;
};

// From the capture's own queries. Error: it has none, or its keys are not as queries meet them.
[[nodiscard]] Result<TokenImportance> token_importance(const Capture& capture);

}  // namespace sluice
