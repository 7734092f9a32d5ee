// How much each token of a context is attended to: which tokens a lossy codec should keep best.
// Where in the flow: measured on the whole context before it is cut into chunks; encoders get it by
// EncodeOptions::importance, decoders never need it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "codec/capture_format.h"

namespace sluice {

struct TokenImportance {
  // Of a layer that was asked: per token held, the root mean square over queries and heads of the
  // attention that it got (0 to 1), from `first_token` on.
  struct Layer {
    std::int64_t first_token = 0;
    std::vector<float> attention;
  };
  std::map<std::int64_t, Layer> layers;  // by number

  // Of the tokens at these positions of a layer; empty when the layer was not asked or holds other
  // tokens.
  [[nodiscard]] std::vector<float> of(std::int64_t layer, std::int64_t first_token,
                                      std::int64_t tokens) const;
};

// From the capture's own queries (those of its last tokens). Error: it has none, or its keys are
// not as queries meet them.
[[nodiscard]] Result<TokenImportance> token_importance(const Capture& capture);

}  // namespace sluice
