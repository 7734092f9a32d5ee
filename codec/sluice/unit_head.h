// What stands in front of a unit's symbols: scales or the model profile's layer, the raw first
// token, token classes, channel offsets.
// Where in the flow: decoders read it first, the CPU's (decode.cc) and a GPU's plan (cuda_plan.cc)
// alike; spec.md, section 4.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "codec/sluice/basis.h"
#include "codec/sluice/unit.h"

namespace sluice::ladder {

struct UnitHead {
  const LayerProfile* layer = nullptr;  // of the model profile; null: scales are in the stream
  std::vector<TensorScale> scales;      // [tensor]; only without `layer`
  // [tensor] The first token's elements, [head, dim]; none where it is coded like the others.
  std::vector<std::span<const std::byte>> raw_tokens;
  bool has_classes = false;
  std::vector<std::int8_t> classes;   // [row]; 0 where the stream has none
  std::vector<std::int16_t> offsets;  // [channel]; empty: none

  // Token of row 0.
  [[nodiscard]] std::int64_t first_row() const { return raw_tokens.empty() ? 0 : 1; }
  [[nodiscard]] std::int64_t rows() const { return std::ssize(classes); }
  [[nodiscard]] UnitBasis basis() const;
};

// Reads a unit's head from the front of `base`, which is any bytes, and takes it off. `shapes`: of
// its tensors; `layer`: profile_of() it.
[[nodiscard]] Result<UnitHead> read_head(std::span<const TensorShape> shapes,
                                         const LayerProfile* layer, Backend backend,
                                         std::span<const std::byte>& base);

template <typename View>
[[nodiscard]] Result<UnitHead> read_head(const SectionContext& context, const UnitOf<View>& unit,
                                         std::span<const std::byte>& base) {
  std::vector<TensorShape> shapes;
  for (const auto& tensor : unit.tensors) shapes.push_back(tensor.values.shape);
  return read_head(shapes, profile_of(context.model_profile, unit), context.backend, base);
}

// Whether the plane of symbols at the front of `base` is of the peaked family, as all are.
[[nodiscard]] Status check_symbol_model(std::span<const std::byte> base);

}  // namespace sluice::ladder
