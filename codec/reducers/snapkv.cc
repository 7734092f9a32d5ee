#include "codec/reducers/snapkv.h"

#include <algorithm>

#include "codec/reducers/selection.h"

namespace sluice {
namespace {

using reducers::Choice;

constexpr std::ptrdiff_t kPoolRadius = 3;  // a kernel of 7

std::vector<float> max_pooled(const std::vector<float>& votes) {
  std::vector<float> pooled;
  for (auto at = votes.begin(); at != votes.end(); ++at) {
    const auto before = std::min(kPoolRadius, at - votes.begin());
    const auto behind = std::min(kPoolRadius + 1, votes.end() - at);
    pooled.push_back(*std::max_element(at - before, at + behind));
  }
  return pooled;
}

Result<KeptTokens> select(const ReducerInput& input) {
  return reducers::for_each_layer(input.cache, [&](const auto& layer) -> Result<Choice> {
    auto votes = reducers::scores_of(input, layer, &TokenImportance::Layer::observed);
    if (!votes) return votes.error();
    const std::int64_t budget = reducers::num_kept(layer.tokens(), input.keep_percent);
    const std::int64_t window = std::min(kObservedQueries, budget);
    Choice choice(layer.tokens());
    choice.add_last(window);
    votes->resize(static_cast<std::size_t>(layer.tokens() - window));
    choice.add_best(max_pooled(*votes), budget - window);
    return choice;
  });
}

}  // namespace

Reducer snapkv_reducer() {
  return {.info = {.id = "snapkv",
                   .summary = "the last 32 tokens, and those that their queries vote for",
                   .needs_attention = true,
                   .levels = {{"75", 75}, {"50", 50}, {"25", 25}},
                   .default_level = 1},
          .select = select};
}

}  // namespace sluice
