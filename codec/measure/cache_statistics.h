// What a cache's numbers allow, before any codec: how alike neighbouring tokens are, and how much
// knowing a number's place tells of its value.
// Where in the flow: behind `codec statistics`; the two observations that CacheGen is built on
// (SIGCOMM'24, sections 5.1.1 and 5.1.3: deltas of 2.4 to 2.9 times lower variance; grouping by
// channel and layer up to 53 % fewer bits than one distribution).
// Surprise: variances are compared as sums over all layers, as the paper's figure shows them, so
// layers with large numbers decide; the median over layers stands beside it.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/kv_cache.h"

namespace sluice {

inline constexpr std::int64_t kAnchorGroup = 10;  // tokens that share an anchor, as in the paper
// Of the quantiser whose symbols are counted, in standard deviations of a layer's tensor.
inline constexpr double kStatisticsStep = 0.5;

// How often the variance of the values is that of differences between tokens of a layer, channel by
// channel. 1 / (2 - 2 r) for a correlation r of neighbours; below 1 differences are the larger.
struct DeltaGain {
  double of_all = 0;        // all layers' variances summed, each about its tensor's mean
  double in_channel = 0;    // the same, each about its channel's mean
  double layer_median = 0;  // as `of_all`, of the layer in the middle
};

// Empirical entropies in bits per element, when every group has a distribution of its own.
struct GroupEntropies {
  double whole = 0, by_token = 0, by_layer = 0, by_channel = 0, by_layer_and_channel = 0;
};

struct KindStatistics {
  TensorKind kind = TensorKind::kKey;
  std::int64_t layers = 0, tokens = 0, elements = 0;  // tokens: of the layer that holds most
  DeltaGain to_previous, to_anchor;
  GroupEntropies entropies;
};

// One entry per kind that the cache holds elements of. Tokens of a layer count as neighbours in the
// order in which they are held; numbers that are not finite count as 0.
[[nodiscard]] std::vector<KindStatistics> cache_statistics(const KvView& cache);

}  // namespace sluice
