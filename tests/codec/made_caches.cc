#include "tests/codec/made_caches.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace sluice {
namespace {

template <typename Function>
void for_each_tensor(KvCache& cache, Function function) {
  for (std::size_t i = 0; i < cache.view().layers.size(); ++i) {
    for (const TensorKind kind : kTensorKinds) {
      if (cache.view().layers[i].find(kind) != nullptr) function(cache.mutable_tensor(i, kind));
    }
  }
}

template <typename Function>
void for_each_element(const TensorShape& shape, Function function) {
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      for (std::int64_t dim = 0; dim < shape.dim; ++dim) function(head, token, dim);
    }
  }
}

KvShape one_layer(const TensorShape& shape) {
  return {.facts = {}, .layers = {layer_of(0, shape)}};
}

KvLayer<TensorShape> latent_layer(std::int64_t number, const TensorShape& shape) {
  KvLayer<TensorShape> layer;
  layer.layer = number;
  layer.latent = shape;
  return layer;
}

// Two windows, three head counts, three head sizes, a gap in the numbers, keys and values of
// different size.
KvShape mixed_shape() {
  KvShape shape{.facts = {.model = "made by hand", .revision = "1", .keys = KeyForm::kPostRope},
                .layers = {}};
  shape.layers.push_back(layer_of(0, {.dtype = Dtype::kBf16, .heads = 3, .tokens = 20, .dim = 16}));
  shape.layers.push_back(layer_of(2, {.dtype = Dtype::kBf16, .heads = 1, .tokens = 7, .dim = 31}));
  shape.layers.push_back(layer_of(3, {.dtype = Dtype::kFp16, .heads = 5, .tokens = 20, .dim = 8}));
  shape.layers.push_back(layer_of(9, {.dtype = Dtype::kFp32, .heads = 2, .tokens = 3, .dim = 24}));
  shape.layers[1].first_token = 13;
  shape.layers[3].first_token = 17;
  shape.layers[3].value->dim = 12;
  const RopeFacts near{.theta = 1e4,
                       .rotated_dims = 16,
                       .pairing = RopePairing::kHalf,
                       .inv_freq = {},
                       .scaling_json = {}};
  const RopeFacts far{.theta = 1e6,
                      .rotated_dims = 8,
                      .pairing = RopePairing::kInterleaved,
                      .inv_freq = {1, 0.1},
                      .scaling_json = R"({"factor":4.0})"};
  shape.layers[0].rope = std::make_shared<const RopeFacts>(near);
  shape.layers[2].rope = std::make_shared<const RopeFacts>(far);
  return shape;
}

// What is left where a reducer dropped tokens: two layers of one kept set, one that holds all, one
// whose tokens are few and far between, a latent.
KvShape kept_shape() {
  const TensorShape five{.dtype = Dtype::kBf16, .heads = 2, .tokens = 5, .dim = 8};
  KvShape shape{.facts = {.keys = KeyForm::kPostRope}, .layers = {}};
  shape.layers.push_back(layer_at(0, five, {0, 1, 7, 8, 30}));
  shape.layers.push_back(layer_at(1, five, {0, 1, 7, 8, 30}));
  shape.layers.push_back(layer_of(2, five));
  shape.layers.push_back(layer_at(3, five, {3, 1000, 5000, 5001, std::int64_t{1} << 30}));
  shape.layers.push_back(layer_at(4, five, {2, 3, 4, 5, 30}));
  shape.layers.back().key = shape.layers.back().value = std::nullopt;
  shape.layers.back().latent = five;
  shape.layers.back().latent->heads = 1;
  shape.layers[0].rope = std::make_shared<const RopeFacts>(
      RopeFacts{.theta = 1e4, .rotated_dims = 8, .pairing = RopePairing::kHalf});
  return shape;
}

KvCache with_zero_rows() {
  KvCache cache =
      made_cache(one_layer({.dtype = Dtype::kFp16, .heads = 2, .tokens = 12, .dim = 20}));
  for_each_tensor(cache, [](const MutableTensorView& tensor) {
    for_each_element(tensor.shape, [&](std::int64_t head, std::int64_t token, std::int64_t dim) {
      if (token % 3 == 0) tensor.set(head, token, dim, 0.0F);
    });
  });
  return cache;
}

KvCache with_odd_numbers() {
  KvCache cache =
      made_cache(one_layer({.dtype = Dtype::kFp32, .heads = 2, .tokens = 11, .dim = 16}));
  const float odd[] = {
      std::numeric_limits<float>::quiet_NaN(),   std::numeric_limits<float>::infinity(),
      -std::numeric_limits<float>::infinity(),   std::numeric_limits<float>::max(),
      -std::numeric_limits<float>::denorm_min(), -0.0F};
  for_each_tensor(cache, [&](const MutableTensorView& tensor) {
    for (std::int64_t i = 0; i < 6; ++i) tensor.set(i % 2, i, i, odd[i]);
    for (std::int64_t dim = 0; dim < 16; ++dim) tensor.set(0, 10, dim, odd[0]);
  });
  return cache;
}

// Numbers near the end of fp16, where a step more would be infinite.
KvCache with_largest_numbers() {
  KvCache cache =
      KvCache::allocate(one_layer({.dtype = Dtype::kFp16, .heads = 2, .tokens = 24, .dim = 33}));
  RandomStream random(17);
  for_each_tensor(cache, [&](const MutableTensorView& tensor) {
    for_each_element(tensor.shape, [&](std::int64_t head, std::int64_t token, std::int64_t dim) {
      const double size = token % 3 == 0 ? 65504 : 65504 - 8000 * random.uniform();
      tensor.set(head, token, dim, static_cast<float>(random.bernoulli(0.5) ? size : -size));
    });
  });
  return cache;
}

}  // namespace

KvCache made_cache(const KvShape& shape, std::uint64_t seed) {
  KvCache cache = KvCache::allocate(shape);
  RandomStream random(seed);
  for_each_tensor(cache, [&](const MutableTensorView& tensor) {
    for_each_element(tensor.shape, [&](std::int64_t head, std::int64_t token, std::int64_t dim) {
      const double offset = dim % 7 == 3 ? 8 : 0;  // keys of real models have such channels
      tensor.set(head, token, dim, static_cast<float>(random.normal(offset, 1)));
    });
  });
  return cache;
}

KvCache token_major_copy(const KvView& view) {
  std::int64_t bytes = 0;
  const KvShape shape = shape_of(view);
  for (const auto& layer : shape.layers) {
    for (const TensorKind kind : kTensorKinds) {
      if (const TensorShape* tensor = layer.find(kind)) bytes += tensor->size().bytes();
    }
  }
  auto memory = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(bytes));
  KvView copy = view;
  std::byte* next = memory->data();
  for (auto& layer : copy.layers) {
    for (auto* tensor : {&layer.key, &layer.value, &layer.latent}) {
      if (!*tensor) continue;
      const TensorView from = **tensor;
      const MutableTensorView to{
          .shape = from.shape, .data = next, .strides = token_major(from.shape)};
      for_each_element(from.shape, [&](std::int64_t head, std::int64_t token, std::int64_t dim) {
        to.set(head, token, dim, from.at(head, token, dim));
      });
      *tensor = to.view();
      next += from.shape.size().bytes();
    }
  }
  return KvCache(memory, std::move(copy));
}

KvLayer<TensorShape> layer_of(std::int64_t number, const TensorShape& shape) {
  KvLayer<TensorShape> layer;
  layer.layer = number;
  layer.key = shape;
  layer.value = shape;
  return layer;
}

KvLayer<TensorShape> layer_at(std::int64_t number, const TensorShape& shape,
                              const Positions& positions) {
  KvLayer<TensorShape> layer = layer_of(number, shape);
  layer.first_token = positions.front();
  layer.positions = if_gapped(positions);
  return layer;
}

std::vector<NamedCache> odd_caches() {
  std::vector<NamedCache> caches;
  const auto add = [&](const std::string& name, KvCache cache) {
    caches.push_back({name, std::move(cache)});
  };
  add("OneTokenOneChannel",
      made_cache(one_layer({.dtype = Dtype::kFp16, .heads = 1, .tokens = 1, .dim = 1})));
  add("OneToken",
      made_cache(one_layer({.dtype = Dtype::kBf16, .heads = 3, .tokens = 1, .dim = 64})));
  add("ThirtyOneChannels",
      made_cache(one_layer({.dtype = Dtype::kFp16, .heads = 1, .tokens = 40, .dim = 31})));
  add("NinetyNineChannels",
      made_cache(one_layer({.dtype = Dtype::kBf16, .heads = 9, .tokens = 25, .dim = 11})));
  add("NoLayers", made_cache({}));
  add("EmptyLayer", made_cache({.facts = {},
                                .layers = {layer_of(0, {.heads = 2, .tokens = 0, .dim = 8}),
                                           layer_of(1, {.heads = 2, .tokens = 4, .dim = 8}),
                                           layer_of(5, {.heads = 0, .tokens = 4, .dim = 8})}}));
  add("Mixed", made_cache(mixed_shape()));
  add("Latent", made_cache({.facts = {},
                            .layers = {layer_of(0, {.heads = 2, .tokens = 15, .dim = 8}),
                                       latent_layer(1, {.heads = 1, .tokens = 15, .dim = 72}),
                                       latent_layer(2, {.heads = 1, .tokens = 15, .dim = 72})}}));
  add("KeptTokens", made_cache(kept_shape()));
  add("ZeroRows", with_zero_rows());
  add("AllZero",
      KvCache::allocate(one_layer({.dtype = Dtype::kBf16, .heads = 2, .tokens = 33, .dim = 40})));
  add("OddNumbers", with_odd_numbers());
  add("LargestNumbers", with_largest_numbers());
  KvShape many{};
  for (int i = 0; i < 19; ++i)
    many.layers.push_back(layer_of(2 * i, {.heads = 2, .tokens = 12, .dim = 4}));
  add("NineteenLayers", made_cache(many));
  return caches;
}

namespace {

Positions positions_in(const KvLayer<TensorShape>& layer) {
  return layer.positions ? *layer.positions : Positions{};
}

}  // namespace

void expect_same_shape(const KvShape& a, const KvShape& b) {
  EXPECT_EQ(a.facts, b.facts);
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    EXPECT_EQ(a.layers[i].layer, b.layers[i].layer);
    EXPECT_EQ(a.layers[i].first_token, b.layers[i].first_token);
    EXPECT_EQ(positions_in(a.layers[i]), positions_in(b.layers[i]));
    EXPECT_EQ(a.layers[i].key, b.layers[i].key);
    EXPECT_EQ(a.layers[i].value, b.layers[i].value);
    EXPECT_EQ(a.layers[i].latent, b.layers[i].latent);
    ASSERT_EQ(a.layers[i].rope == nullptr, b.layers[i].rope == nullptr);
    if (a.layers[i].rope != nullptr) {
      EXPECT_EQ(*a.layers[i].rope, *b.layers[i].rope);
    }
  }
}

void expect_same(const KvView& a, const KvView& b) {
  expect_same_shape(shape_of(a), shape_of(b));
  if (testing::Test::HasFailure()) return;
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    for (const TensorKind kind : kTensorKinds) {
      const TensorView* was = a.layers[i].find(kind);
      if (was == nullptr) continue;
      const TensorView* is = b.layers[i].find(kind);
      std::int64_t different = 0;
      for_each_element(was->shape, [&](std::int64_t head, std::int64_t token, std::int64_t dim) {
        const auto bits = [&](const TensorView* t) {
          return std::bit_cast<std::uint32_t>(t->at(head, token, dim));
        };
        if (bits(was) != bits(is)) ++different;
      });
      EXPECT_EQ(different, 0) << "layer " << a.layers[i].layer << " " << to_text(kind);
    }
  }
}

}  // namespace sluice
