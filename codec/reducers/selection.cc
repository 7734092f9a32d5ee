#include "codec/reducers/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sluice::reducers {

std::int64_t num_kept(std::int64_t tokens, std::int64_t keep_percent) {
  return tokens / 100 * keep_percent + (tokens % 100 * keep_percent + 99) / 100;
}

Result<std::vector<float>> scores_of(const ReducerInput& input, const KvLayer<TensorView>& layer,
                                     Score score) {
  constexpr const char* kFix = "capture with `--queries N`, or reduce by `window`";
  if (input.importance == nullptr)
    return error_in("", "the attention that its tokens get is not known", kFix);
  std::vector<float> scores = input.importance->of(layer, score);
  if (scores.empty()) {
    return error_in("", fmt::format("layer {}: no query asked its tokens", layer.layer), kFix);
  }
  for (float& value : scores) {
    if (std::isnan(value)) value = 0;
  }
  return scores;
}

void Choice::add_first(std::int64_t count) {
  std::fill_n(chosen_.begin(), count, true);
}

void Choice::add_last(std::int64_t count) {
  std::fill_n(chosen_.rbegin(), count, true);
}

void Choice::add_best(const std::vector<float>& scores, std::int64_t count) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!chosen_[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(count)));
  for (const std::size_t i : order) chosen_[i] = true;
}

}  // namespace sluice::reducers
