#include "codec/token_importance.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

// Of one layer: the sum over queries and heads of squared attention, per token held.
class SquaredAttention {
 public:
  SquaredAttention(const KvLayer<TensorView>& layer, const TensorView& queries,
                   std::int64_t first_query)
      : layer_(layer), queries_(queries), first_query_(first_query) {}

  std::vector<float> root_mean() {
    const TensorShape& key = layer_.key->shape;
    sums_.assign(static_cast<std::size_t>(key.tokens), 0.0);
    for (std::int64_t head = 0; head < queries_.shape.heads; ++head) add_head(head);
    const auto asked = static_cast<double>(queries_.shape.heads * queries_.shape.tokens);
    std::vector<float> roots;
    roots.reserve(sums_.size());
    for (const double sum : sums_) roots.push_back(static_cast<float>(std::sqrt(sum / asked)));
    return roots;
  }

 private:
  void add_head(std::int64_t head) {
    const TensorShape& key = layer_.key->shape;
    const std::int64_t kv_head = head * key.heads / queries_.shape.heads;
    const auto dim = static_cast<std::size_t>(key.dim);
    keys_.resize(static_cast<std::size_t>(key.tokens) * dim);
    for (std::int64_t token = 0; token < key.tokens; ++token) {
      for (std::size_t d = 0; d < dim; ++d)
        keys_[static_cast<std::size_t>(token) * dim + d] =
            layer_.key->at(kv_head, token, static_cast<std::int64_t>(d));
    }
    for (std::int64_t query = 0; query < queries_.shape.tokens; ++query) add_query(head, query);
  }

  void add_query(std::int64_t head, std::int64_t query) {
    const auto dim = static_cast<std::size_t>(layer_.key->shape.dim);
    const std::int64_t visible = std::clamp<std::int64_t>(
        first_query_ + query + 1 - layer_.first_token, 0, layer_.key->shape.tokens);
    if (visible == 0) return;
    std::vector<float> asked(dim);
    for (std::size_t d = 0; d < dim; ++d)
      asked[d] = queries_.at(head, query, static_cast<std::int64_t>(d));
    weights_.resize(static_cast<std::size_t>(visible));
    const float scale = 1.0F / std::sqrt(static_cast<float>(dim));
    float largest = -INFINITY;
    for (std::size_t t = 0; t < weights_.size(); ++t) {
      float sum = 0;
      for (std::size_t d = 0; d < dim; ++d) sum += asked[d] * keys_[t * dim + d];
      weights_[t] = sum * scale;
      largest = std::max(largest, weights_[t]);
    }
    double total = 0;
    for (float& weight : weights_) total += weight = std::exp(weight - largest);
    for (std::size_t t = 0; t < weights_.size(); ++t) {
      const double share = static_cast<double>(weights_[t]) / total;
      sums_[t] += share * share;
    }
  }

  const KvLayer<TensorView>& layer_;
  const TensorView& queries_;
  std::int64_t first_query_;  // context position
  std::vector<double> sums_;
  std::vector<float> keys_, weights_;
};

}  // namespace

std::vector<float> TokenImportance::of(std::int64_t layer, std::int64_t first_token,
                                       std::int64_t tokens) const {
  const auto found = layers.find(layer);
  if (found == layers.end()) return {};
  const auto& [first, attention] = found->second;
  if (first_token < first || first_token + tokens > first + std::ssize(attention)) return {};
  const auto begin = attention.begin() + (first_token - first);
  return {begin, begin + tokens};
}

Result<TokenImportance> token_importance(const Capture& capture) {
  if (capture.queries.empty() || !capture.query_first_token) {
    return error_in("", "the capture holds no queries", "capture with `--queries N`");
  }
  const KvView& view = capture.cache.view();
  if (view.facts.keys == KeyForm::kPreRope) {
    return error_in("", "its keys are pre-rope, queries attend to rotated ones",
                    "capture post-rope keys");
  }
  TokenImportance importance;
  for (const LayerQueries& queries : capture.queries) {
    const auto layer =
        std::find_if(view.layers.begin(), view.layers.end(),
                     [&](const auto& candidate) { return candidate.layer == queries.layer; });
    if (layer == view.layers.end() || !layer->key || layer->key->shape.elements() == 0 ||
        queries.values.shape.elements() == 0)
      continue;
    importance.layers[queries.layer] = {
        .first_token = layer->first_token,
        .attention =
            SquaredAttention(*layer, queries.values, *capture.query_first_token).root_mean()};
  }
  return importance;
}

}  // namespace sluice
