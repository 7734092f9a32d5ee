// A KV cache in memory: layers of shapes, layers of views, and one owning type.
// Where in the flow: captures are read into a KvCache, codecs read KvViews, decoding fills one.
// Surprise: geometry is per layer. Numbers may have gaps, a sliding-window layer holds fewer tokens
// and starts later than its neighbours, a reduced one has gaps between its tokens, a latent (MLA)
// layer is one tensor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "codec/rope.h"
#include "codec/tensor_view.h"

namespace sluice {

enum class TensorKind : std::uint8_t { kKey = 0, kValue = 1, kLatent = 2 };
inline constexpr TensorKind kTensorKinds[] = {TensorKind::kKey, TensorKind::kValue,
                                              TensorKind::kLatent};

[[nodiscard]] std::string_view to_text(TensorKind kind);  // "key", "value", "latent"

// The largest layer number; more is taken for damage.
inline constexpr std::int64_t kLayerMax = 65'535;

// Context positions of a layer's tokens, strictly increasing.
using Positions = std::vector<std::int64_t>;
// As a layer keeps them: null where each is one more than the last, or there is none.
[[nodiscard]] std::shared_ptr<const Positions> if_gapped(Positions positions);

[[nodiscard]] inline std::int64_t tokens_of(const TensorShape& shape) {
  return shape.tokens;
}
[[nodiscard]] inline std::int64_t tokens_of(const TensorView& view) {
  return view.shape.tokens;
}

// One layer, of shapes or of views. Holds a key and a value with equal token counts, or a latent.
template <typename Tensor>
struct KvLayer {
  std::int64_t layer = 0;        // number in the model; strictly increasing within a cache
  std::int64_t first_token = 0;  // position in the context of the first token held
  // Of each token held, where some in between are not; null: first_token, first_token + 1, …
  std::shared_ptr<const Positions> positions;
  std::shared_ptr<const RopeFacts> rope;  // null: not known
  std::optional<Tensor> key, value, latent;

  [[nodiscard]] std::int64_t tokens() const {
    return key ? tokens_of(*key) : latent ? tokens_of(*latent) : 0;
  }
  // In the context, of a token held.
  [[nodiscard]] std::int64_t position(std::int64_t token) const {
    return positions ? (*positions)[static_cast<std::size_t>(token)] : first_token + token;
  }
  // How many of the tokens held stand before a position in the context.
  [[nodiscard]] std::int64_t tokens_before(std::int64_t position) const {
    if (!positions) return std::clamp<std::int64_t>(position - first_token, 0, tokens());
    return std::lower_bound(positions->begin(), positions->end(), position) - positions->begin();
  }
  // The tensor of that kind, or null.
  [[nodiscard]] const Tensor* find(TensorKind kind) const {
    const auto& tensor = kind == TensorKind::kKey     ? key
                         : kind == TensorKind::kValue ? value
                                                      : latent;
    return tensor ? &*tensor : nullptr;
  }
};

// Whether keys are stored rotated by their position.
enum class KeyForm : std::uint8_t { kUnknown = 0, kPostRope = 1, kPreRope = 2 };
[[nodiscard]] std::string_view to_text(KeyForm form);  // "unknown", "post-rope", "pre-rope"

// For a section's tensors; empty where there is no gap. Valid as long as the layer's positions.
template <typename Tensor>
[[nodiscard]] std::span<const std::int64_t> positions_of(const KvLayer<Tensor>& layer) {
  if (!layer.positions) return {};
  return *layer.positions;
}

// What holds for the whole cache.
struct KvFacts {
  std::string model, revision;  // empty: not known
  KeyForm keys = KeyForm::kUnknown;
  bool operator==(const KvFacts&) const = default;
};

template <typename Tensor>
struct KvLayers {
  KvFacts facts;
  std::vector<KvLayer<Tensor>> layers;
};
using KvShape = KvLayers<TensorShape>;
using KvView = KvLayers<TensorView>;

[[nodiscard]] KvShape shape_of(const KvView& view);
[[nodiscard]] std::int64_t num_elements(const KvShape& shape);
[[nodiscard]] bool has_positions(const KvShape& shape);  // of any layer: tokens are missing between
// Context positions covered: [first, end) over all layers; {0, 0} when nothing is held.
struct TokenRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t tokens() const { return end - begin; }
  bool operator==(const TokenRange&) const = default;
};
[[nodiscard]] TokenRange token_range(const KvShape& shape);
// 1 + the last layer's number: the number of layers as far as the cache tells.
[[nodiscard]] std::int64_t num_model_layers(const KvShape& shape);

// The part of the cache in the context positions `range`; a layer that holds none of them stays,
// with 0 tokens.
[[nodiscard]] KvView slice_tokens(const KvView& view, TokenRange range);

// Layers increasing up to kLayerMax, key with value or latent alone, equal token counts, no
// negative number, positions (where there are some) increasing from first_token with a gap, one per
// token, and every product (elements, bytes, their sum over layers) within int64. The error has no
// file: the caller adds it.
[[nodiscard]] Status check_shape(const KvShape& shape);

// Memory and the views into it. Moving it keeps the views valid.
class KvCache {
 public:
  // Zeros, [head, token, dim], each tensor from a 64-byte line on. `shape` has passed
  // check_shape().
  [[nodiscard]] static KvCache allocate(const KvShape& shape);
  // A view into `memory` (a file's bytes, say), kept alive together.
  KvCache(std::shared_ptr<const void> memory, KvView view);

  [[nodiscard]] const KvView& view() const { return view_; }
  // Of a cache made by allocate(); `layer_index` counts the layers held, not their numbers.
  [[nodiscard]] MutableTensorView mutable_tensor(std::size_t layer_index, TensorKind kind);

 private:
  std::shared_ptr<const void> memory_;
  std::byte* writable_ = nullptr;  // start of memory_ when allocated here
  KvView view_;
};

}  // namespace sluice
