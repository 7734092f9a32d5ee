#include <cstring>

#include "base/assert.h"
#include "codec/reducers/reducer.h"

namespace sluice {
namespace {

// Where the layer holds them, of those that it holds.
std::vector<std::int64_t> tokens_at(const KvLayer<TensorShape>& layer, const Positions& positions) {
  std::vector<std::int64_t> tokens;
  for (const std::int64_t position : positions) {
    const std::int64_t token = layer.tokens_before(position);
    if (token < layer.tokens() && layer.position(token) == position) tokens.push_back(token);
  }
  return tokens;
}

void keep(KvLayer<TensorShape>& layer, const std::vector<std::int64_t>& tokens) {
  Positions positions;
  for (const std::int64_t token : tokens) positions.push_back(layer.position(token));
  if (!positions.empty()) layer.first_token = positions.front();
  layer.positions = if_gapped(std::move(positions));
  for (auto* tensor : {&layer.key, &layer.value, &layer.latent}) {
    if (*tensor) (*tensor)->tokens = std::ssize(tokens);
  }
}

// Bits, not numbers: NaN payloads stay.
void copy_token(const TensorView& from, std::int64_t token, const MutableTensorView& to,
                std::int64_t at) {
  const std::int64_t width = bytes_per_element(from.shape.dtype);
  const std::int64_t run = from.strides.dim == 1 ? from.shape.dim : 1;
  for (std::int64_t head = 0; head < from.shape.heads; ++head) {
    for (std::int64_t dim = 0; dim < from.shape.dim; dim += run) {
      const auto offset = [&](const Strides& strides, std::int64_t row) {
        return (head * strides.head + row * strides.token + dim * strides.dim) * width;
      };
      std::memcpy(to.data + offset(to.strides, at), from.data + offset(from.strides, token),
                  static_cast<std::size_t>(run * width));
    }
  }
}

}  // namespace

KvCache keep_tokens(const KvView& cache, const KeptTokens& kept) {
  SLUICE_ASSERT(kept.size() == cache.layers.size(), "kept tokens of another number of layers");
  KvShape shape = shape_of(cache);
  std::vector<std::vector<std::int64_t>> tokens;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    tokens.push_back(tokens_at(shape.layers[i], kept[i]));
    keep(shape.layers[i], tokens.back());
  }
  KvCache reduced = KvCache::allocate(shape);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (const TensorKind kind : kTensorKinds) {
      const TensorView* from = cache.layers[i].find(kind);
      if (from == nullptr || from->shape.elements() == 0) continue;
      const MutableTensorView to = reduced.mutable_tensor(i, kind);
      for (std::size_t at = 0; at < tokens[i].size(); ++at)
        copy_token(*from, tokens[i][at], to, static_cast<std::int64_t>(at));
    }
  }
  return reduced;
}

}  // namespace sluice
