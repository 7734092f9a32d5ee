// Requirements on the statistics of a cache: variances and entropies that can be worked out by
// head.
#include "codec/measure/cache_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/codec/made_caches.h"

namespace sluice {
namespace {

// One layer of `channels` values and as many keys over `tokens` tokens.
KvCache cache_of(std::int64_t tokens, std::int64_t channels,
                 const std::function<float(std::int64_t, std::int64_t)>& value) {
  KvShape shape;
  shape.layers = {layer_of(0, {Dtype::kFp32, 1, tokens, channels})};
  KvCache cache = KvCache::allocate(shape);
  for (const TensorKind kind : {TensorKind::kKey, TensorKind::kValue})
    for (std::int64_t token = 0; token < tokens; ++token)
      for (std::int64_t channel = 0; channel < channels; ++channel)
        cache.mutable_tensor(0, kind).set(0, token, channel, value(token, channel));
  return cache;
}

TEST(CacheStatistics, ValuesThatAlternateHaveDifferencesOfFourTimesTheirVariance) {
  // +1, -1, +1, -1: variance 1; differences -2, 2, -2: about 4.
  const auto cache = cache_of(1000, 3, [](auto token, auto) { return token % 2 ? -1.F : 1.F; });
  const auto found = cache_statistics(cache.view());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[0].to_previous.of_all, 0.25, 1e-4);
  // To the first of ten, +1: of nine differences five are -2 and four 0, variance 4 * 20 / 81.
  EXPECT_NEAR(found[0].to_anchor.of_all, 81.0 / 80, 1e-9);
}

TEST(CacheStatistics, ARampChangesLittleFromTokenToToken) {
  // 0 to 99: variance (100^2 - 1) / 12 = 833.25; all differences to the previous one are 1, of
  // variance 0: no ratio, told as 0. To the first of ten they are 1 to 9: variance 80 / 12.
  const auto cache = cache_of(100, 1, [](auto token, auto) { return static_cast<float>(token); });
  const auto found = cache_statistics(cache.view());
  EXPECT_EQ(found[1].to_previous.of_all, 0);
  EXPECT_NEAR(found[1].to_anchor.of_all, 833.25 / (80.0 / 12), 1e-6);
}

TEST(CacheStatistics, AChannelsMeanIsNoVarianceWithinIt) {
  // Channels at 0 and 10 with the same +1, -1: about the tensor's mean 26, about their own 1.
  const auto cache = cache_of(
      1000, 2, [](auto token, auto channel) { return 10.F * channel + (token % 2 ? -1.F : 1.F); });
  const auto found = cache_statistics(cache.view());
  EXPECT_NEAR(found[0].to_previous.of_all, 26 * 0.25, 1e-2);
  EXPECT_NEAR(found[0].to_previous.in_channel, 0.25, 1e-3);
}

TEST(CacheStatistics, ADistributionPerChannelNeedsNoBitsWhereChannelsAreConstant) {
  // Four channels of four values: 2 bits together, 2 in each token, none in each channel.
  const auto cache =
      cache_of(64, 4, [](auto, auto channel) { return static_cast<float>(channel); });
  const GroupEntropies bits = cache_statistics(cache.view())[0].entropies;
  EXPECT_DOUBLE_EQ(bits.whole, 2);
  EXPECT_DOUBLE_EQ(bits.by_token, 2);
  EXPECT_DOUBLE_EQ(bits.by_layer, 2);
  EXPECT_DOUBLE_EQ(bits.by_channel, 0);
  EXPECT_DOUBLE_EQ(bits.by_layer_and_channel, 0);
}

TEST(CacheStatistics, OddCachesHaveFiniteStatistics) {
  for (const NamedCache& odd : odd_caches())
    for (const KindStatistics& kind : cache_statistics(odd.cache.view())) {
      EXPECT_GT(kind.elements, 0) << odd.name;
      EXPECT_TRUE(std::isfinite(kind.to_previous.of_all)) << odd.name;
      EXPECT_LE(kind.entropies.by_layer_and_channel, kind.entropies.whole + 1e-9) << odd.name;
    }
}

}  // namespace
}  // namespace sluice
