// What every registered reducer must hold to, at every level, on every odd cache; and what each
// keeps, by hand. A new reducer is picked up by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.h"
#include "codec/container/decode.h"
#include "codec/container/encode.h"
#include "tests/codec/made_caches.h"
#include "tests/test_name.h"

namespace sluice {
namespace {

using testing::HasSubstr;

struct ReducerLevel {
  const Reducer* reducer;
  std::size_t level;
  [[nodiscard]] const ReducerLevelInfo& info() const { return reducer->info.levels[level]; }
  [[nodiscard]] std::string id() const { return reducer->info.id + "+" + info().name; }
};

std::vector<ReducerLevel> every_reducer_level() {
  std::vector<ReducerLevel> levels;
  for (const Reducer& reducer : all_reducers()) {
    for (std::size_t level = 0; level < reducer.info.levels.size(); ++level)
      levels.push_back({&reducer, level});
  }
  return levels;
}

Positions held_by(const KvLayer<TensorView>& layer) {
  Positions positions;
  for (std::int64_t token = 0; token < layer.tokens(); ++token)
    positions.push_back(layer.position(token));
  return positions;
}

// Every layer was asked; `score` may be anything, NaN too.
template <typename MakeScore>
TokenImportance made_importance(const KvView& cache, MakeScore score) {
  TokenImportance importance;
  for (const auto& layer : cache.layers) {
    TokenImportance::Layer& made = importance.layers[layer.layer];
    made.positions = held_by(layer);
    for (auto* scores : {&made.root_mean_square, &made.total, &made.observed}) {
      for (std::size_t i = 0; i < made.positions.size(); ++i) scores->push_back(score());
    }
  }
  return importance;
}

class EveryReducer : public testing::TestWithParam<ReducerLevel> {
 protected:
  static KeptTokens selected(const KvView& cache, const TokenImportance& importance) {
    const auto kept = GetParam().reducer->select({.cache = cache,
                                                  .keep_percent = GetParam().info().keep_percent,
                                                  .importance = &importance});
    EXPECT_TRUE(kept.ok()) << kept.error().to_line();
    return kept.ok() ? *kept : KeptTokens(cache.layers.size());
  }
  // check(view, importance, kept) for every odd cache and a longer one; a failure names the cache.
  template <typename Check>
  static void for_each_cache(Check check) {
    auto caches = odd_caches();
    caches.push_back(
        {"Long", made_cache({.facts = {},
                             .layers = {layer_of(0, {.heads = 1, .tokens = 333, .dim = 2}),
                                        layer_of(1, {.heads = 1, .tokens = 333, .dim = 2})}})});
    RandomStream random(3);
    for (const NamedCache& made : caches) {
      SCOPED_TRACE(made.name);
      const KvView& view = made.cache.view();
      const auto importance =
          made_importance(view, [&] { return static_cast<float>(random.uniform()); });
      check(view, importance, selected(view, importance));
    }
  }
  static bool layers_hold_the_same(const KvView& view) {
    return std::all_of(view.layers.begin(), view.layers.end(), [&](const auto& layer) {
      return held_by(layer) == held_by(view.layers.front());
    });
  }
};

TEST_P(EveryReducer, KeepsHeldPositionsInOrderAndTheLast) {
  for_each_cache([](const KvView& view, const TokenImportance&, const KeptTokens& kept) {
    ASSERT_EQ(kept.size(), view.layers.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const Positions held = held_by(view.layers[i]);
      EXPECT_TRUE(std::includes(held.begin(), held.end(), kept[i].begin(), kept[i].end()));
      EXPECT_EQ(std::adjacent_find(kept[i].begin(), kept[i].end(), std::greater_equal<>()),
                kept[i].end());
      const std::int64_t end = token_range(shape_of(view)).end;
      if (!held.empty() && held.back() + 1 == end) {
        ASSERT_FALSE(kept[i].empty());
        EXPECT_EQ(kept[i].back() + 1, end);
      }
    }
  });
}

TEST_P(EveryReducer, KeepsTheShareThatItsLevelNames) {
  for_each_cache([](const KvView& view, const TokenImportance&, const KeptTokens& kept) {
    if (!layers_hold_the_same(view)) return;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const double share = static_cast<double>(view.layers[i].tokens()) *
                           static_cast<double>(GetParam().info().keep_percent) / 100;
      EXPECT_EQ(std::ssize(kept[i]), std::ceil(share)) << view.layers[i].tokens();
    }
  });
}

TEST_P(EveryReducer, ChoosesTheSameAgainAndFromNumbersThatAreNone) {
  for_each_cache([](const KvView& view, const TokenImportance& importance, const KeptTokens& kept) {
    EXPECT_EQ(selected(view, importance), kept);
    const auto none = made_importance(view, [] { return std::nanf(""); });
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (!layers_hold_the_same(view)) continue;
      EXPECT_EQ(selected(view, none)[i].size(), kept[i].size());
    }
  });
}

TEST_P(EveryReducer, SaysWhatItNeeds) {
  const KvCache cache = made_cache({.facts = {}, .layers = {layer_of(0, {.tokens = 9})}});
  const auto kept = GetParam().reducer->select(
      {.cache = cache.view(), .keep_percent = GetParam().info().keep_percent});
  EXPECT_EQ(kept.ok(), !GetParam().reducer->info.needs_attention);
  if (kept) return;
  EXPECT_THAT(kept.error().to_line(), HasSubstr("capture with `--queries N`"));
}

TEST_P(EveryReducer, ComposesWithCodecsThatSeeTheKeptTokensAlone) {
  for (const char* name : {"raw", "int8@token", "cachegen-released@2"}) {
    SCOPED_TRACE(name);
    CodecLevel pair = *find_codec_level(name);
    const CodecLevel alone = pair;
    pair.reducer = GetParam().reducer;
    pair.reducer_level = GetParam().level;
    for_each_cache([&](const KvView& view, const TokenImportance& importance,
                       const KeptTokens& kept) {
      const auto file = encode_container(view, pair, {.importance = &importance});
      ASSERT_TRUE(file.ok()) << file.error().to_line();
      const auto header = parse_header(*file, "made.kvb");
      ASSERT_TRUE(header.ok()) << header.error().to_line();
      EXPECT_EQ(header->codec_id, alone.codec->info.id + "+" + GetParam().reducer->info.id);
      EXPECT_EQ(header->level, alone.level_name() + "+" + GetParam().info().name);
      EXPECT_EQ(header->source_elements, num_elements(shape_of(view)));
      const auto decoded = decode_container(*file, "made.kvb");
      ASSERT_TRUE(decoded.ok()) << decoded.error().to_line();
      const KvCache reduced = keep_tokens(view, kept);
      const auto oracle = decode_container(*encode_container(reduced.view(), alone), "alone.kvb");
      ASSERT_TRUE(oracle.ok()) << oracle.error().to_line();
      expect_same(oracle->view(), decoded->view());
      for (std::size_t i = 0; i < kept.size(); ++i)
        EXPECT_EQ(held_by(decoded->view().layers[i]), kept[i]);
    });
  }
}

TEST_P(EveryReducer, ChosenOverTheContextChunksAreSlicesOfTheWhole) {
  const CodecLevel pair{*find_codec("raw"), 0, GetParam().reducer, GetParam().level};
  for_each_cache([&](const KvView& view, const TokenImportance&, const KeptTokens& kept) {
    const KvCache whole = keep_tokens(view, kept);
    for (const TokenRange chunk : {TokenRange{0, 7}, {7, 8}, {8, 31}, {31, 400}}) {
      const auto file = encode_container(slice_tokens(view, chunk), pair, {.kept_tokens = &kept});
      ASSERT_TRUE(file.ok()) << file.error().to_line();
      const auto decoded = decode_container(*file, "made.kvb");
      ASSERT_TRUE(decoded.ok()) << decoded.error().to_line();
      const KvView part = slice_tokens(whole.view(), chunk);
      for (std::size_t i = 0; i < part.layers.size(); ++i) {
        const auto& is = decoded->view().layers[i];
        EXPECT_EQ(held_by(is), held_by(part.layers[i]));
        if (!is.key || is.key->shape.elements() == 0) continue;
        for (std::int64_t token = 0; token < is.tokens(); ++token) {
          EXPECT_EQ(std::bit_cast<std::uint32_t>(is.key->at(0, token, 0)),
                    std::bit_cast<std::uint32_t>(part.layers[i].key->at(0, token, 0)));
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryReducer, testing::ValuesIn(every_reducer_level()),
                         [](const auto& level) { return test_name(level.param.id()); });

// What a reducer keeps of layers with these scores, at a share.
KeptTokens kept_by(const char* id, const std::vector<std::vector<float>>& scores,
                   std::int64_t keep_percent, std::int64_t first_token = 0) {
  KvShape shape;
  TokenImportance importance;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    shape.layers.push_back(
        layer_of(number, {.heads = 1, .tokens = std::ssize(scores[i]), .dim = 1}));
    shape.layers.back().first_token = first_token;
    TokenImportance::Layer& layer = importance.layers[number];
    for (std::int64_t token = 0; token < std::ssize(scores[i]); ++token)
      layer.positions.push_back(first_token + token);
    layer.root_mean_square = layer.total = layer.observed = scores[i];
  }
  const KvCache cache = made_cache(shape);
  return *(*find_reducer(id))
              ->select(
                  {.cache = cache.view(), .keep_percent = keep_percent, .importance = &importance});
}

Positions joined(const std::vector<TokenRange>& ranges) {
  Positions positions;
  for (const TokenRange range : ranges) {
    for (std::int64_t p = range.begin; p < range.end; ++p) positions.push_back(p);
  }
  return positions;
}

TEST(H2o, KeepsHalfOfItsTokensFromTheEndAndHalfByAttention) {
  // 4 of 8: 6 and 7 are the latest, 0 and 3 got most.
  EXPECT_EQ(kept_by("h2o", {{9, 1, 1, 5, 1, 1, 1, 8}}, 50)[0], (Positions{0, 3, 6, 7}));
  EXPECT_EQ(kept_by("h2o", {{1, 1, 1, 1, 1, 1, 1, 1}}, 50)[0], (Positions{0, 1, 6, 7}));
  EXPECT_EQ(kept_by("h2o", {{9, 1, 1}}, 25)[0], (Positions{2}));  // one alone: the last
}

TEST(SnapKv, KeepsItsWindowAndTheNeighboursOfWhatItVotesFor) {
  // 50 of 100: the 32 of the window, 7 around the only vote, then the earliest 11.
  std::vector<float> votes(100, 0.0F);
  votes[20] = 5;
  votes[80] = 100;  // in the window, which stays anyway
  EXPECT_EQ(kept_by("snapkv", {votes}, 50)[0], joined({{0, 11}, {17, 24}, {68, 100}}));
  EXPECT_EQ(kept_by("snapkv", {votes}, 25)[0], joined({{75, 100}}));
}

TEST(Window, KeepsFourSinksAndTheLatestTokens) {
  const std::vector<float> any(20, 0.0F);
  EXPECT_EQ(kept_by("window", {any}, 50)[0], joined({{0, 4}, {14, 20}}));
  // A layer that slid on past the sinks has none.
  EXPECT_EQ(kept_by("window", {any}, 50, 5)[0], joined({{15, 25}}));
  EXPECT_EQ(kept_by("window", {any}, 50, 2)[0], joined({{2, 4}, {14, 22}}));
  EXPECT_EQ(kept_by("window", {{0, 0, 0, 0}}, 25)[0], (Positions{3}));
}

TEST(PromptDrop, DropsTheSameTokensInEveryLayerByTheSumOfTheirAttention) {
  // 4 of 8: the end's 6 and 7; sums of the others 5 5 2 6 3 3.
  const KeptTokens kept = kept_by("prompt-drop",
                                  {{5, 1, 1, 1, 2, 1, 0, 0},  //
                                   {0, 4, 1, 5, 1, 2, 0, 0}},
                                  50);
  EXPECT_EQ(kept[0], (Positions{0, 3, 6, 7}));  // of the equal ones the earlier
  EXPECT_EQ(kept[1], kept[0]);
}

TEST(KeepTokens, OfAChunkKeepsWhatTheChunkHolds) {
  const KvCache cache =
      made_cache({.facts = {}, .layers = {layer_of(0, {.heads = 2, .tokens = 10, .dim = 3})}});
  const KvCache kept = keep_tokens(slice_tokens(cache.view(), {3, 8}), {{0, 4, 7, 9}});
  EXPECT_EQ(held_by(kept.view().layers[0]), (Positions{4, 7}));
  EXPECT_EQ(kept.view().layers[0].value->at(1, 1, 2), cache.view().layers[0].value->at(1, 7, 2));
}

}  // namespace
}  // namespace sluice
