#include "tests/bench/speed_input.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace sluice::bench {
namespace {

struct Channel {
  double mean, scale;
};

// Keys: every channel is centred somewhere, one in 16 far out, and scales differ by half an order
// of magnitude. Values: centred near zero, with scales that are alike.
Channel drawn_channel(TensorKind kind, RandomStream& random) {
  const bool is_key = kind == TensorKind::kKey;
  const double spread = random.normal(0, 1);
  const double centre = random.normal(0, 1);
  const bool is_outlier = is_key && random.below(16) == 0;
  return {.mean = is_key ? centre * (is_outlier ? 8 : 1) : centre * 0.05,
          .scale = is_key ? std::exp(0.5 * spread) : 0.3 * std::exp(0.3 * spread)};
}

void fill(const MutableTensorView& tensor, TensorKind kind, RandomStream& random) {
  for (std::int64_t head = 0; head < tensor.shape.heads; ++head) {
    for (std::int64_t dim = 0; dim < tensor.shape.dim; ++dim) {
      const Channel channel = drawn_channel(kind, random);
      for (std::int64_t token = 0; token < tensor.shape.tokens; ++token) {
        tensor.set(head, token, dim,
                   static_cast<float>(random.normal(channel.mean, channel.scale)));
      }
    }
  }
}

}  // namespace

KvCache made_kv_cache(std::int64_t tokens) {
  constexpr std::int64_t kTokensOfAllLayers = 256;
  const std::int64_t num_layers =
      std::clamp<std::int64_t>(kModelLayers * kTokensOfAllLayers / tokens, 1, kModelLayers);
  KvShape shape;
  for (std::int64_t i = 0; i < num_layers; ++i) {
    KvLayer<TensorShape> layer;
    layer.layer = i * kModelLayers / num_layers;
    layer.key = TensorShape{.dtype = Dtype::kFp16, .heads = 8, .tokens = tokens, .dim = 128};
    layer.value = layer.key;
    shape.layers.push_back(std::move(layer));
  }
  KvCache cache = KvCache::allocate(shape);
  for (std::size_t i = 0; i < shape.layers.size(); ++i) {
    RandomStream random(1, "codec bench", i);
    for (const TensorKind kind : {TensorKind::kKey, TensorKind::kValue})
      fill(cache.mutable_tensor(i, kind), kind, random);
  }
  return cache;
}

}  // namespace sluice::bench
