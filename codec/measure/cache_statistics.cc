#include "codec/measure/cache_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace sluice {
namespace {

constexpr int kSymbolMax = 127;
constexpr std::size_t kSymbols = 2 * kSymbolMax + 1;

class Histogram {
 public:
  void add(int symbol) {
    ++counts_[static_cast<std::size_t>(symbol + kSymbolMax)];
    ++total_;
  }
  void add(const Histogram& other) {
    for (std::size_t i = 0; i < kSymbols; ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
  }
  // Of all that was added, in bits: entropy times number.
  [[nodiscard]] double bits() const {
    double sum = 0;
    for (const std::int64_t count : counts_)
      if (count > 0)
        sum -= static_cast<double>(count) *
               std::log2(static_cast<double>(count) / static_cast<double>(total_));
    return sum;
  }

 private:
  std::array<std::int64_t, kSymbols> counts_{};
  std::int64_t total_ = 0;
};

double bits_of(const std::vector<Histogram>& groups) {
  double sum = 0;
  for (const Histogram& group : groups) sum += group.bits();
  return sum;
}

// Sum, and sum of squares, of numbers.
struct Moments {
  double sum = 0, squares = 0, number = 0;
  void add(double value) {
    sum += value;
    squares += value * value;
    ++number;
  }
  void add(const Moments& other) {
    sum += other.sum;
    squares += other.squares;
    number += other.number;
  }
  // Of squared distances from the mean.
  [[nodiscard]] double spread() const { return number > 0 ? squares - sum * sum / number : 0; }
  [[nodiscard]] double variance() const { return number > 0 ? spread() / number : 0; }
};

double ratio(double above, double below) {
  return below > 0 ? above / below : 0;
}

// One layer's tensor of a kind, as [token, channel] numbers.
struct Rows {
  std::size_t tokens, channels;
  std::vector<float> values;
  [[nodiscard]] double at(std::size_t token, std::size_t channel) const {
    return values[token * channels + channel];
  }
};

Rows read_rows(const TensorView& view) {
  Rows rows{static_cast<std::size_t>(view.shape.tokens),
            static_cast<std::size_t>(view.shape.channels()),
            {}};
  rows.values.resize(rows.tokens * rows.channels);
  for (std::size_t token = 0; token < rows.tokens; ++token)
    view.read_token(static_cast<std::int64_t>(token),
                    std::span(rows.values).subspan(token * rows.channels, rows.channels));
  for (float& value : rows.values)
    if (!std::isfinite(value)) value = 0;
  return rows;
}

// Variances of one layer: of values about two means, and of differences to the token `base_of`.
struct LayerVariances {
  double about_tensor = 0, about_channel = 0, delta = 0;
};

template <typename BaseOf>
LayerVariances variances(const Rows& rows, BaseOf base_of) {
  Moments all, delta;
  double in_channels = 0;
  for (std::size_t channel = 0; channel < rows.channels; ++channel) {
    Moments own;
    for (std::size_t token = 0; token < rows.tokens; ++token) {
      own.add(rows.at(token, channel));
      if (const std::optional<std::size_t> base = base_of(token))
        delta.add(rows.at(token, channel) - rows.at(*base, channel));
    }
    all.add(own);
    in_channels += own.spread();
  }
  return {all.variance(), all.number > 0 ? in_channels / all.number : 0, delta.variance()};
}

std::optional<std::size_t> previous(std::size_t token) {
  return token > 0 ? std::optional(token - 1) : std::nullopt;
}

std::optional<std::size_t> anchor(std::size_t token) {
  const std::size_t first = token - token % kAnchorGroup;
  return first < token ? std::optional(first) : std::nullopt;
}

DeltaGain gain_of(const std::vector<LayerVariances>& layers) {
  LayerVariances sum;
  std::vector<double> gains;
  for (const LayerVariances& layer : layers) {
    sum.about_tensor += layer.about_tensor;
    sum.about_channel += layer.about_channel;
    sum.delta += layer.delta;
    gains.push_back(ratio(layer.about_tensor, layer.delta));
  }
  const auto middle = gains.begin() + static_cast<std::ptrdiff_t>(gains.size() / 2);
  std::nth_element(gains.begin(), middle, gains.end());
  return {ratio(sum.about_tensor, sum.delta), ratio(sum.about_channel, sum.delta), *middle};
}

// Counts of all groupings of one kind.
class Groups {
 public:
  void add(const Rows& rows) {
    Moments all;
    for (const float value : rows.values) all.add(value);
    const double mean = all.number > 0 ? all.sum / all.number : 0;
    const double step = kStatisticsStep * std::sqrt(std::max(all.variance(), 0.0));
    if (tokens_.size() < rows.tokens) tokens_.resize(rows.tokens);
    if (channels_.size() < rows.channels) channels_.resize(rows.channels);
    Histogram layer;
    for (std::size_t channel = 0; channel < rows.channels; ++channel) {
      Histogram own;
      for (std::size_t token = 0; token < rows.tokens; ++token) {
        const double steps = step > 0 ? (rows.at(token, channel) - mean) / step : 0;
        const int symbol =
            static_cast<int>(std::clamp(std::round(steps), -1.0 * kSymbolMax, 1.0 * kSymbolMax));
        own.add(symbol);
        tokens_[token].add(symbol);
      }
      channels_[channel].add(own);
      layer.add(own);
      layer_channel_bits_ += own.bits();
    }
    layer_bits_ += layer.bits();
    whole_.add(layer);
  }

  [[nodiscard]] GroupEntropies entropies(double elements) const {
    return {whole_.bits() / elements, bits_of(tokens_) / elements, layer_bits_ / elements,
            bits_of(channels_) / elements, layer_channel_bits_ / elements};
  }

 private:
  Histogram whole_;
  std::vector<Histogram> tokens_, channels_;
  double layer_bits_ = 0, layer_channel_bits_ = 0;
};

KindStatistics statistics_of(const KvView& cache, TensorKind kind) {
  KindStatistics result{.kind = kind};
  std::vector<LayerVariances> to_previous, to_anchor;
  Groups groups;
  for (const KvLayer<TensorView>& layer : cache.layers) {
    const TensorView* view = layer.find(kind);
    if (view == nullptr || view->shape.elements() == 0) continue;
    const Rows rows = read_rows(*view);
    to_previous.push_back(variances(rows, previous));
    to_anchor.push_back(variances(rows, anchor));
    groups.add(rows);
    ++result.layers;
    result.tokens = std::max(result.tokens, view->shape.tokens);
    result.elements += view->shape.elements();
  }
  if (result.elements == 0) return result;
  result.to_previous = gain_of(to_previous);
  result.to_anchor = gain_of(to_anchor);
  result.entropies = groups.entropies(static_cast<double>(result.elements));
  return result;
}

}  // namespace

std::vector<KindStatistics> cache_statistics(const KvView& cache) {
  std::vector<KindStatistics> all;
  for (const TensorKind kind : kTensorKinds)
    if (KindStatistics found = statistics_of(cache, kind); found.elements > 0)
      all.push_back(std::move(found));
  return all;
}

}  // namespace sluice
