#include "codec/reducers/h2o.h"

#include <algorithm>

#include "codec/reducers/selection.h"

namespace sluice {
namespace {

using reducers::Choice;

Result<KeptTokens> select(const ReducerInput& input) {
  return reducers::for_each_layer(input.cache, [&](const auto& layer) -> Result<Choice> {
    auto scores = reducers::scores_of(input, layer, &TokenImportance::Layer::total);
    if (!scores) return scores.error();
    const std::int64_t budget = reducers::num_kept(layer.tokens(), input.keep_percent);
    const std::int64_t recent = std::max<std::int64_t>(1, budget / 2);
    Choice choice(layer.tokens());
    choice.add_last(recent);
    choice.add_best(*scores, budget - recent);
    return choice;
  });
}

}  // namespace

Reducer h2o_reducer() {
  return {.info = {.id = "h2o",
                   .summary = "half of them the latest tokens, half those that got most attention",
                   .needs_attention = true,
                   .levels = {{"75", 75}, {"50", 50}, {"25", 25}},
                   .default_level = 1},
          .select = select};
}

}  // namespace sluice
