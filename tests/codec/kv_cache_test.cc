#include "codec/kv_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/codec/made_caches.h"

namespace sluice {
namespace {

using testing::HasSubstr;

TEST(KvCache, AChunkHoldsThePositionsAskedForInEveryLayer) {
  // Layer 0 holds positions 0 to 19, layer 1 (a window) only 15 to 19.
  KvShape shape{.facts = {},
                .layers = {layer_of(0, {.heads = 1, .tokens = 20, .dim = 2}),
                           layer_of(1, {.heads = 1, .tokens = 5, .dim = 2})}};
  shape.layers[1].first_token = 15;
  const KvCache cache = made_cache(shape);
  EXPECT_EQ(token_range(shape), (TokenRange{0, 20}));
  const KvView chunk = slice_tokens(cache.view(), {10, 17});
  EXPECT_EQ(chunk.layers[0].key->shape.tokens, 7);
  EXPECT_EQ(chunk.layers[0].first_token, 10);
  EXPECT_EQ(chunk.layers[1].key->shape.tokens, 2);
  EXPECT_EQ(chunk.layers[1].first_token, 15);
  EXPECT_EQ(chunk.layers[1].key->at(0, 1, 1), cache.view().layers[1].key->at(0, 1, 1));
  EXPECT_EQ(chunk.layers[0].value->at(0, 0, 0), cache.view().layers[0].value->at(0, 10, 0));
  const KvView early = slice_tokens(cache.view(), {0, 10});
  EXPECT_EQ(early.layers[1].key->shape.tokens, 0);  // the layer stays, empty
}

TEST(KvCache, KeptTokensAreFoundBySlicesThroughTheirPositions) {
  const KvCache cache =
      made_cache({.facts = {},
                  .layers = {layer_at(0, {.heads = 2, .tokens = 5, .dim = 2}, {0, 4, 5, 6, 90}),
                             layer_of(1, {.heads = 2, .tokens = 91, .dim = 2})}});
  const auto& whole = cache.view().layers[0];
  EXPECT_EQ(token_range(shape_of(cache.view())), (TokenRange{0, 91}));
  EXPECT_EQ(whole.position(2), 5);
  EXPECT_EQ(whole.tokens_before(6), 3);
  EXPECT_EQ(whole.tokens_before(7), 4);
  const KvView gapped = slice_tokens(cache.view(), {5, 91});
  EXPECT_EQ(*gapped.layers[0].positions, (Positions{5, 6, 90}));
  EXPECT_EQ(gapped.layers[0].first_token, 5);
  EXPECT_EQ(gapped.layers[0].value->at(1, 2, 0), whole.value->at(1, 4, 0));
  EXPECT_EQ(gapped.layers[1].key->shape.tokens, 86);
  const KvView gapless = slice_tokens(cache.view(), {1, 7});
  EXPECT_EQ(gapless.layers[0].positions, nullptr);
  EXPECT_EQ(gapless.layers[0].first_token, 4);
  EXPECT_EQ(gapless.layers[0].tokens(), 3);
  const KvView none = slice_tokens(cache.view(), {7, 90});
  EXPECT_EQ(none.layers[0].tokens(), 0);
  EXPECT_EQ(none.layers[0].positions, nullptr);
  for (const KvView& part : {gapped, gapless, none}) EXPECT_TRUE(check_shape(shape_of(part)).ok());
}

TEST(KvCache, PositionsThatCannotBeAreRefused) {
  const auto error_of = [](std::int64_t first_token, Positions positions) {
    auto layer = layer_of(3, {.heads = 1, .tokens = 3, .dim = 1});
    layer.first_token = first_token;
    layer.positions = std::make_shared<const Positions>(std::move(positions));
    const Status status = check_shape({.facts = {}, .layers = {layer}});
    return status ? std::string("ok") : status.error().what;
  };
  EXPECT_EQ(error_of(2, {2, 4, 5}), "ok");
  EXPECT_EQ(error_of(2, {2, 4}), "layer 3: 2 positions of 3 tokens");
  EXPECT_EQ(error_of(0, {2, 4, 5}), "layer 3: first token 0, but its positions begin with 2");
  EXPECT_EQ(error_of(2, {2, 5, 5}), "layer 3: position 5 stands behind 5");
  EXPECT_EQ(error_of(2, {2, 5, -1}), "layer 3: position -1 stands behind 5");
  EXPECT_THAT(error_of(2, {2, 3, 4}), HasSubstr("no gap"));
  EXPECT_THAT(error_of(2, {2, 3, INT64_MAX}), HasSubstr("pass 2^63"));
}

TEST(KvCache, AMovedCacheKeepsItsViews) {
  KvCache cache =
      made_cache({.facts = {}, .layers = {layer_of(0, {.heads = 1, .tokens = 1, .dim = 1})}});
  const float before = cache.view().layers[0].key->at(0, 0, 0);
  const KvCache moved = std::move(cache);
  EXPECT_EQ(moved.view().layers[0].key->at(0, 0, 0), before);
}

TEST(KvCache, ShapesThatCannotBeAreRefused) {
  const auto error_of = [](std::vector<KvLayer<TensorShape>> layers) {
    const Status status = check_shape({.facts = {}, .layers = std::move(layers)});
    return status ? std::string("ok") : status.error().what;
  };
  const TensorShape shape{.heads = 1, .tokens = 1, .dim = 1};
  EXPECT_THAT(error_of({layer_of(1, shape), layer_of(1, shape)}),
              HasSubstr("layer 1 after layer 1"));
  EXPECT_THAT(error_of({layer_of(70'000, shape)}), HasSubstr("layer 70000"));
  EXPECT_THAT(error_of({KvLayer<TensorShape>{}}), HasSubstr("needs a key and a value"));
  auto uneven = layer_of(0, shape);
  uneven.value->tokens = 2;
  EXPECT_THAT(error_of({uneven}), HasSubstr("1 tokens of keys but 2 of values"));
  EXPECT_THAT(
      error_of({layer_of(0, {.heads = 1 << 20, .tokens = std::int64_t{1} << 40, .dim = 1 << 20})}),
      HasSubstr("2^63"));
  auto late = layer_of(0, shape);
  late.first_token = INT64_MAX;
  EXPECT_THAT(error_of({late}), HasSubstr("first token"));
  EXPECT_EQ(error_of({layer_of(0, {.heads = 0, .tokens = std::int64_t{1} << 62, .dim = 5})}),
            "ok");  // no elements
}

}  // namespace
}  // namespace sluice
