#include "codec/reducers/prompt_drop.h"

#include <algorithm>

#include "codec/reducers/selection.h"

namespace sluice {
namespace {

// All positions that any layer holds.
Positions positions_of_context(const KvView& cache) {
  Positions all;
  const Positions* last = nullptr;  // many layers share one list
  TokenRange last_range;
  for (const auto& layer : cache.layers) {
    const TokenRange range{layer.first_token, layer.first_token + layer.tokens()};
    if (layer.positions ? layer.positions.get() == last : range == last_range) continue;
    for (std::int64_t token = 0; token < layer.tokens(); ++token)
      all.push_back(layer.position(token));
    last = layer.positions.get();
    if (!layer.positions) last_range = range;
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// The attention that each position gets, over all layers that were asked.
Result<std::vector<float>> attention_of(const ReducerInput& input, const Positions& all) {
  std::vector<float> sums(all.size());
  std::optional<Error> nothing;
  bool was_asked = false;
  for (const auto& layer : input.cache.layers) {
    if (layer.tokens() == 0) continue;
    const auto scores = reducers::scores_of(input, layer, &TokenImportance::Layer::total);
    if (!scores) {
      nothing = scores.error();
      continue;
    }
    was_asked = true;
    for (std::size_t token = 0; token < scores->size(); ++token) {
      const std::int64_t position = layer.position(static_cast<std::int64_t>(token));
      const auto at = std::lower_bound(all.begin(), all.end(), position) - all.begin();
      sums[static_cast<std::size_t>(at)] += (*scores)[token];
    }
  }
  if (!was_asked && nothing) return *nothing;
  return sums;
}

Result<KeptTokens> select(const ReducerInput& input) {
  const Positions all = positions_of_context(input.cache);
  const auto attention = attention_of(input, all);
  if (!attention) return attention.error();
  const std::int64_t budget = reducers::num_kept(std::ssize(all), input.keep_percent);
  const std::int64_t end =
      std::min(kObservedQueries, std::max(std::min<std::int64_t>(budget, 1), budget / 2));
  reducers::Choice choice(std::ssize(all));
  choice.add_last(end);
  choice.add_best(*attention, budget - end);
  const Positions chosen =
      choice.positions([&](std::int64_t i) { return all[static_cast<std::size_t>(i)]; });
  KeptTokens kept;
  for (const auto& layer : input.cache.layers) {
    Positions& held = kept.emplace_back();
    std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(held),
                 [&](std::int64_t position) {
                   const std::int64_t token = layer.tokens_before(position);
                   return token < layer.tokens() && layer.position(token) == position;
                 });
  }
  return kept;
}

}  // namespace

Reducer prompt_drop_reducer() {
  return {.info = {.id = "prompt-drop",
                   .summary = "in all layers the same tokens: the end, and most attention overall",
                   .needs_attention = true,
                   .levels = {{"75", 75}, {"50", 50}, {"25", 25}},
                   .default_level = 1},
          .select = select};
}

}  // namespace sluice
