#include "codec/measure/attention_error.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

// One head as [token, dim], fp32.
std::vector<float> head_of(const TensorView& tensor, std::int64_t head) {
  const TensorShape& shape = tensor.shape;
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(shape.tokens * shape.dim));
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    for (std::int64_t dim = 0; dim < shape.dim; ++dim) out.push_back(tensor.at(head, token, dim));
  }
  return out;
}

float dot(const float* a, const float* b, std::size_t n) {
  float sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// softmax(q K / sqrt(dim)) V over the first `visible` tokens. `out` has the values' dim.
void attend(std::span<const float> query, std::span<const float> keys,
            std::span<const float> values, std::size_t visible, std::vector<float>& weights,
            std::span<float> out) {
  const std::size_t dim = query.size();
  const float scale = 1.0F / std::sqrt(static_cast<float>(dim));
  weights.resize(visible);
  for (std::size_t t = 0; t < visible; ++t)
    weights[t] = dot(query.data(), keys.data() + t * dim, dim) * scale;
  const float largest = *std::max_element(weights.begin(), weights.end());
  double total = 0;
  for (float& weight : weights) {
    weight = std::exp(weight - largest);
    total += weight;
  }
  std::fill(out.begin(), out.end(), 0.0F);
  for (std::size_t t = 0; t < visible; ++t) {
    const auto weight = static_cast<float>(weights[t] / total);
    for (std::size_t d = 0; d < out.size(); ++d) out[d] += weight * values[t * out.size() + d];
  }
}

// Outputs [head, query, dim of values] of one layer; a query that sees no token gives zeros.
std::vector<float> layer_outputs(const KvLayer<TensorView>& layer, const TensorView& queries,
                                 std::int64_t first_query) {
  const TensorShape& key = layer.key->shape;
  const TensorShape& query = queries.shape;
  const auto dim = static_cast<std::size_t>(query.dim);
  const auto out_dim = static_cast<std::size_t>(layer.value->shape.dim);
  std::vector<float> outputs(static_cast<std::size_t>(query.heads * query.tokens) * out_dim);
  std::vector<float> weights, keys, values;
  std::int64_t last_kv_head = -1;  // several query heads share one
  for (std::int64_t head = 0; head < query.heads; ++head) {
    const std::int64_t kv_head = head * key.heads / query.heads;
    if (kv_head != last_kv_head) {
      keys = head_of(*layer.key, kv_head);
      values = head_of(*layer.value, kv_head);
      last_kv_head = kv_head;
    }
    const auto asked = head_of(queries, head);
    for (std::int64_t q = 0; q < query.tokens; ++q) {
      const std::int64_t visible = layer.tokens_before(first_query + q + 1);
      if (visible == 0) continue;
      attend(std::span(asked).subspan(static_cast<std::size_t>(q) * dim, dim), keys, values,
             static_cast<std::size_t>(visible), weights,
             std::span(outputs).subspan(static_cast<std::size_t>(head * query.tokens + q) * out_dim,
                                        out_dim));
    }
  }
  return outputs;
}

// |a - b| / |b|, or nothing when b is 0.
std::optional<double> relative_error(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  double length = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
    length += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  if (length == 0) return std::nullopt;
  return std::sqrt(difference / length);
}

struct Mean {
  double sum = 0;
  std::int64_t count = 0;
  void add(const std::optional<double>& value) {
    if (!value) return;
    sum += *value;
    ++count;
  }
  [[nodiscard]] double value() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

void append_token(const TensorView& tensor, std::int64_t token, std::vector<float>& out) {
  out.resize(out.size() + static_cast<std::size_t>(tensor.shape.channels()));
  tensor.read_token(token, std::span(out).last(static_cast<std::size_t>(tensor.shape.channels())));
}

// Zeros where the layer does not hold the position.
void append_position(const KvLayer<TensorView>& layer, TensorKind kind, std::int64_t position,
                     std::vector<float>& out) {
  const TensorView& tensor = *layer.find(kind);
  const std::int64_t token = layer.tokens_before(position);
  if (token < layer.tokens() && layer.position(token) == position)
    return append_token(tensor, token, out);
  out.resize(out.size() + static_cast<std::size_t>(tensor.shape.channels()));
}

bool can_attend(const KvLayer<TensorView>& layer, const TensorView& queries) {
  return layer.key && layer.value && layer.key->shape.heads == layer.value->shape.heads &&
         layer.key->shape.elements() > 0 && layer.value->shape.elements() > 0 &&
         queries.shape.elements() > 0;
}

}  // namespace

Result<AttentionReference> AttentionReference::make(const Capture& capture) {
  if (capture.queries.empty() || !capture.query_first_token) {
    return error_in("", "the capture holds no queries", "capture with `--queries N`");
  }
  const KvView& view = capture.cache.view();
  if (view.facts.keys == KeyForm::kPreRope) {
    return error_in("", "its keys are pre-rope, queries attend to rotated ones",
                    "capture post-rope keys");
  }
  AttentionReference reference(*capture.query_first_token);
  reference.cache_ = std::make_shared<const KvCache>(capture.cache);
  for (const LayerQueries& queries : capture.queries) {
    const auto layer =
        std::find_if(view.layers.begin(), view.layers.end(),
                     [&](const auto& candidate) { return candidate.layer == queries.layer; });
    if (layer == view.layers.end() || !can_attend(*layer, queries.values)) continue;
    reference.layers_.push_back(
        {.layer_index = static_cast<std::size_t>(layer - view.layers.begin()),
         .queries = queries.values,
         .values = layer_outputs(*layer, queries.values, reference.first_query_)});
  }
  if (reference.layers_.empty())
    return error_in("", "no layer has keys, values and queries", "capture with `--queries N`");
  return reference;
}

double AttentionReference::error_of(const KvView& damaged) const {
  Mean mean;
  for (const LayerOutputs& outputs : layers_) {
    const auto& layer = damaged.layers[outputs.layer_index];
    const auto changed = layer_outputs(layer, outputs.queries, first_query_);
    const auto dim = static_cast<std::size_t>(layer.value->shape.dim);
    for (std::size_t begin = 0; begin < changed.size(); begin += dim) {
      mean.add(relative_error(std::span(changed).subspan(begin, dim),
                              std::span(outputs.values).subspan(begin, dim)));
    }
  }
  return mean.value();
}

double value_error(const KvView& original, const KvView& damaged) {
  Mean mean;
  for (std::size_t i = 0; i < original.layers.size(); ++i) {
    const auto& layer = original.layers[i];
    for (const TensorKind kind : kTensorKinds) {
      const TensorView* was = layer.find(kind);
      if (was == nullptr) continue;
      std::vector<float> before, after;
      for (std::int64_t token = 0; token < layer.tokens(); ++token) {
        append_token(*was, token, before);
        append_position(damaged.layers[i], kind, layer.position(token), after);
      }
      mean.add(relative_error(after, before));
    }
  }
  return mean.value();
}

}  // namespace sluice
