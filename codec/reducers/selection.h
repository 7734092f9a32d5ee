// What reducers share: budgets, scores, and the choice of the best.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/reducers/reducer.h"

namespace sluice::reducers {

// How many of so many tokens are kept: the share rounded up, so one of one.
[[nodiscard]] std::int64_t num_kept(std::int64_t tokens, std::int64_t keep_percent);

using Score = std::vector<float> TokenImportance::Layer::*;

// A score per token that the layer holds, NaN as 0. Error: the layer's tokens were not asked for.
[[nodiscard]] Result<std::vector<float>> scores_of(const ReducerInput& input,
                                                   const KvLayer<TensorView>& layer, Score score);

// The tokens of one layer, or of a context, by index; chosen one after the other.
class Choice {
 public:
  explicit Choice(std::int64_t tokens) : chosen_(static_cast<std::size_t>(tokens)) {}

  void add_first(std::int64_t count);
  void add_last(std::int64_t count);
  // Those of `scores` (of the first tokens, as many as there are scores) that are the largest and
  // not yet chosen; of equal ones the earlier. At most `count`.
  void add_best(const std::vector<float>& scores, std::int64_t count);
  // Where the tokens stand: position(index).
  template <typename Position>
  [[nodiscard]] Positions positions(Position position) const {
    Positions found;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      if (chosen_[i]) found.push_back(position(static_cast<std::int64_t>(i)));
    }
    return found;
  }

 private:
  std::vector<bool> chosen_;
};

// choose(layer) gives a Result<Choice> for every layer that holds tokens.
template <typename Choose>
[[nodiscard]] Result<KeptTokens> for_each_layer(const KvView& cache, Choose choose) {
  KeptTokens kept;
  for (const auto& layer : cache.layers) {
    if (layer.tokens() == 0) {
      kept.emplace_back();
      continue;
    }
    const Result<Choice> choice = choose(layer);
    if (!choice) return choice.error();
    kept.push_back(choice->positions([&](std::int64_t token) { return layer.position(token); }));
  }
  return kept;
}

}  // namespace sluice::reducers
