#include "codec/kivi/layout.h"

#include <algorithm>

namespace sluice::kivi {

std::span<const Level> levels() {
  static constexpr Level kLevels[] = {
      {"group-32-residual-128", "groups of 32; the last 128 tokens as they are (the paper's)", 32,
       128},
      {"group-32", "groups of 32 tokens (keys) or channels (values)", 32, 0},
      {"group-64", "groups of 64", 64, 0},
      {"group-128", "groups of 128", 128, 0},
  };
  return kLevels;
}

Layout layout_of(const SectionContext& context, int bits, TensorKind kind,
                 const TensorShape& shape) {
  const Level& level = levels()[context.level];
  const std::int64_t residual = std::min(level.residual, shape.tokens);
  return {.is_per_channel = kind != TensorKind::kValue,
          .channels = shape.channels(),
          .group = level.group,
          .coded_tokens = shape.tokens - residual,
          .residual_tokens = residual,
          .element_bytes = bytes_per_element(shape.dtype),
          .bits = bits};
}

}  // namespace sluice::kivi
