#include <algorithm>
#include <cmath>

#include "codec/capture_format.h"
#include "codec/token_importance.h"

namespace sluice {
namespace {

constexpr std::size_t kBlock = 16;  // tokens side by side, for vector instructions

// Of one layer: what each token held gets of the attention of all queries and heads.
class AttentionSums {
 public:
  AttentionSums(const KvLayer<TensorView>& layer, const TensorView& queries,
                std::int64_t first_query)
      : layer_(layer), queries_(queries), first_query_(first_query) {
    const auto tokens = static_cast<std::size_t>(layer.tokens());
    for (auto* sums : {&squares_, &total_, &observed_}) sums->assign(tokens, 0.0);
    for (std::int64_t head = 0; head < queries.shape.heads; ++head) add_head(head);
  }

  [[nodiscard]] TokenImportance::Layer result() const {
    const auto heads = static_cast<double>(queries_.shape.heads);
    const double asked = heads * static_cast<double>(queries_.shape.tokens);
    TokenImportance::Layer result;
    for (std::size_t t = 0; t < total_.size(); ++t) {
      result.positions.push_back(layer_.position(static_cast<std::int64_t>(t)));
      result.root_mean_square.push_back(static_cast<float>(std::sqrt(squares_[t] / asked)));
      result.total.push_back(static_cast<float>(total_[t] / heads));
      result.observed.push_back(static_cast<float>(observed_[t] / heads));
    }
    return result;
  }

 private:
  void add_head(std::int64_t head) {
    const TensorShape& key = layer_.key->shape;
    const std::int64_t kv_head = head * key.heads / queries_.shape.heads;
    if (kv_head != kv_head_) read_keys(kv_head_ = kv_head);
    for (std::int64_t query = 0; query < queries_.shape.tokens; ++query) add_query(head, query);
  }

  void read_keys(std::int64_t kv_head) {
    const TensorShape& key = layer_.key->shape;
    const auto dim = static_cast<std::size_t>(key.dim);
    const std::size_t num_blocks = (static_cast<std::size_t>(key.tokens) + kBlock - 1) / kBlock;
    keys_.assign(num_blocks * kBlock * dim, 0.0F);
    std::vector<float> channels(static_cast<std::size_t>(key.channels()));
    for (std::int64_t token = 0; token < key.tokens; ++token) {
      layer_.key->read_token(token, channels);
      const std::size_t at = static_cast<std::size_t>(token);
      float* const to = &keys_[at / kBlock * kBlock * dim + at % kBlock];
      const float* const from = &channels[static_cast<std::size_t>(kv_head) * dim];
      for (std::size_t d = 0; d < dim; ++d) to[d * kBlock] = from[d];
    }
  }

  void add_query(std::int64_t head, std::int64_t query) {
    const auto dim = static_cast<std::size_t>(layer_.key->shape.dim);
    const std::int64_t visible = layer_.tokens_before(first_query_ + query + 1);
    if (visible == 0) return;
    std::vector<float> asked(dim);
    for (std::size_t d = 0; d < dim; ++d)
      asked[d] = queries_.at(head, query, static_cast<std::int64_t>(d));
    const auto seen = static_cast<std::size_t>(visible);
    weights_.resize((seen + kBlock - 1) / kBlock * kBlock);
    const float scale = 1.0F / std::sqrt(static_cast<float>(dim));
    for (std::size_t t = 0; t < seen; t += kBlock)
      multiply_block(asked, &keys_[t * dim], scale, &weights_[t]);
    weights_.resize(seen);
    const float largest = *std::max_element(weights_.begin(), weights_.end());
    double sum = 0;
    for (float& weight : weights_) sum += weight = std::exp(weight - largest);
    const bool is_observed = query >= queries_.shape.tokens - kObservedQueries;
    for (std::size_t t = 0; t < weights_.size(); ++t) {
      const double share = static_cast<double>(weights_[t]) / sum;
      squares_[t] += share * share;
      total_[t] += share;
      if (is_observed) observed_[t] += share;
    }
  }

  // scores[t] = scale * sum over d of asked[d] * keys[d][t], t < kBlock.
  static void multiply_block(std::span<const float> asked, const float* keys, float scale,
                             float* scores) {
    float sums[kBlock] = {};
    for (const float channel : asked) {
      for (std::size_t t = 0; t < kBlock; ++t) sums[t] += channel * keys[t];
      keys += kBlock;
    }
    for (std::size_t t = 0; t < kBlock; ++t) scores[t] = sums[t] * scale;
  }

  const KvLayer<TensorView>& layer_;
  const TensorView& queries_;
  std::int64_t first_query_;  // context position
  std::vector<double> squares_, total_, observed_;
  std::int64_t kv_head_ = -1;  // whose keys are read: query heads that share one follow each other
  std::vector<float> keys_;    // of it: [block of kBlock tokens][dim][token], padded with zeros
  std::vector<float> weights_;
};

}  // namespace

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
    importance.layers[queries.layer] =
        AttentionSums(*layer, queries.values, *capture.query_first_token).result();
  }
  return importance;
}

}  // namespace sluice
