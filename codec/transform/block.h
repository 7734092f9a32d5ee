// Consecutive tensors of a section that hold the same tokens: they share components.
// Where in the flow: encode.cc and decode.cc walk a section block by block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/codec.h"
#include "codec/sluice/rotation.h"

namespace sluice::transform {

template <typename View>
struct BlockOf {
  std::span<const SectionTensorOf<View>> tensors;

  [[nodiscard]] std::int64_t tokens() const { return tensors[0].values.shape.tokens; }
  [[nodiscard]] std::int64_t channels() const {
    std::int64_t channels = 0;
    for (const auto& tensor : tensors) channels += tensor.values.shape.channels();
    return channels;
  }
  // Tokens in front that are kept as they are: the first of the context, which is unlike all others
  // (it draws attention).
  [[nodiscard]] std::int64_t kept_tokens() const { return tensors[0].position(0) == 0 ? 1 : 0; }
  [[nodiscard]] std::int64_t coded_tokens() const { return tokens() - kept_tokens(); }
};

// Splits a section.
template <typename View>
[[nodiscard]] std::vector<BlockOf<View>> blocks_of(std::span<const SectionTensorOf<View>> tensors) {
  const auto have_same_tokens = [](const auto& a, const auto& b) {
    if (a.values.shape.tokens != b.values.shape.tokens) return false;
    for (std::int64_t t = 0; t < a.values.shape.tokens; ++t) {
      if (a.position(t) != b.position(t)) return false;
    }
    return true;
  };
  std::vector<BlockOf<View>> blocks;
  for (std::size_t i = 0; i < tensors.size();) {
    std::size_t end = i + 1;
    while (end < tensors.size() && have_same_tokens(tensors[i], tensors[end])) ++end;
    blocks.push_back({tensors.subspan(i, end - i)});
    i = end;
  }
  return blocks;
}

// Of the block's coded tokens, per tensor: how its heads turn, one way or the other.
class Rotations {
 public:
  template <typename View>
  Rotations(const SectionContext& context, const BlockOf<View>& block, bool is_undone) {
    std::vector<std::int64_t> positions;
    for (std::int64_t t = block.kept_tokens(); t < block.tokens(); ++t)
      positions.push_back(block.tensors[0].position(t));
    for (const auto& tensor : block.tensors)
      add(context, tensor.kind, tensor.rope, tensor.values.shape.dim, positions, is_undone);
  }
  // Channels of one token of one tensor; nothing where the tensor's keys are not rotated.
  void turn(std::size_t tensor, std::int64_t row, std::span<float> channels) const;

 private:
  void add(const SectionContext& context, TensorKind kind, const RopeFacts* rope, std::int64_t dim,
           std::span<const std::int64_t> positions, bool is_undone);

  struct OfTensor {
    ladder::RotationTable table;
    std::int64_t dim;
  };
  std::vector<OfTensor> tensors_;
  bool is_undone_ = false;
  Backend backend_ = Backend::kScalar;
};

}  // namespace sluice::transform
