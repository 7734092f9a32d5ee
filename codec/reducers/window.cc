#include "codec/reducers/window.h"

#include <algorithm>

#include "codec/reducers/selection.h"

namespace sluice {
namespace {

using reducers::Choice;

constexpr std::int64_t kSinks = 4;  // positions 0 to 3

Result<KeptTokens> select(const ReducerInput& input) {
  return reducers::for_each_layer(input.cache, [&](const auto& layer) -> Result<Choice> {
    const std::int64_t budget = reducers::num_kept(layer.tokens(), input.keep_percent);
    const std::int64_t sinks = std::min(layer.tokens_before(kSinks), budget - 1);
    Choice choice(layer.tokens());
    choice.add_first(sinks);
    choice.add_last(budget - sinks);
    return choice;
  });
}

}  // namespace

Reducer window_reducer() {
  return {.info = {.id = "window",
                   .summary = "the first 4 tokens (attention sinks) and the latest",
                   .levels = {{"75", 75}, {"50", 50}, {"25", 25}},
                   .default_level = 1},
          .select = select};
}

}  // namespace sluice
