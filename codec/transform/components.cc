#include "codec/transform/components.h"

#include <algorithm>
#include <cmath>

#include "codec/damage.h"
#include "codec/entropy/binding.h"
#include "codec/transform/allocation.h"
#include "codec/uniform/scale.h"

namespace sluice::transform {
namespace {

constexpr double kSideBits = 32;      // of a component: its weight, two column models
constexpr float kWeightMax = 32'767;  // of weight * channel symbol: 16 bits
constexpr float kSymbolMax = 32'767;

// One vector's symbols at one step: what they cost and how well they stand for it.
struct Coded {
  double bits = 0;
  double along = 0;    // with the vector, in steps
  double squares = 0;  // of the symbols
};

class VectorCoder {
 public:
  Coded code(const float* values, std::int64_t count, float step) {
    Coded coded;
    symbols_.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      const float symbol = uniform::round_half_even(values[i] / step);
      symbols_.push_back(static_cast<std::int32_t>(symbol));
      coded.along += static_cast<double>(values[i]) * static_cast<double>(symbol);
      coded.squares += static_cast<double>(symbol) * static_cast<double>(symbol);
    }
    const auto [least, most] = std::minmax_element(symbols_.begin(), symbols_.end());
    const std::int32_t first = *least;
    counts_.assign(static_cast<std::size_t>(*most - first) + 1, 0);
    for (const std::int32_t symbol : symbols_) ++counts_[static_cast<std::size_t>(symbol - first)];
    for (const std::int64_t times : counts_) {  // the order-0 entropy
      if (times == 0) continue;
      const double share = static_cast<double>(times) / static_cast<double>(count);
      coded.bits -= static_cast<double>(times) * std::log2(share);
    }
    return coded;
  }

 private:
  std::vector<std::int32_t> symbols_;
  std::vector<std::int64_t> counts_;
};

// Both sides of every component at every step.
struct Measured {
  std::vector<Choice> choices;  // [component][kNumChoices]
  std::vector<float> sizes;     // of symbols times symbols: the same shape
};

// Steps of choice b for vectors of length 1, both sides alike: about b bits per token.
float step_of(int b, std::int64_t num_tokens) {
  return std::ldexp(1.0F / std::sqrt(static_cast<float>(num_tokens)), 2 - b);
}

Measured measure(const Principal& principal, std::int64_t num_tokens, std::int64_t num_channels) {
  Measured measured;
  VectorCoder coder;
  for (std::size_t j = 0; j < principal.sizes.size(); ++j) {
    const auto size = static_cast<double>(principal.sizes[j]);
    measured.choices.push_back({.bits = 0, .error = size * size});
    measured.sizes.push_back(0);
    for (int b = 1; b < kNumChoices; ++b) {
      const float step = step_of(b, num_tokens);
      const Coded tokens = coder.code(
          principal.tokens.data() + static_cast<std::int64_t>(j) * num_tokens, num_tokens, step);
      const Coded channels =
          coder.code(principal.channels.data() + static_cast<std::int64_t>(j) * num_channels,
                     num_channels, step);
      // The best factor for the product of both sides, and what it leaves of the component.
      const double along = tokens.along * channels.along;
      const double squares = tokens.squares * channels.squares;
      const double factor = squares > 0 ? size * along / squares : 0;
      const double kept = squares > 0 ? along * along / squares : 0;
      measured.choices.push_back({.bits = tokens.bits + channels.bits + kSideBits,
                                  .error = size * size * std::max(0.0, 1 - kept)});
      measured.sizes.push_back(static_cast<float>(factor));
    }
  }
  return measured;
}

std::int16_t symbol_of(float value, float step) {
  return static_cast<std::int16_t>(
      std::clamp(uniform::round_half_even(value / step), -kSymbolMax, kSymbolMax));
}

// Room for symbols [line, component].
void put_column(const float* values, std::int64_t lines, float step, std::size_t column,
                std::size_t columns, std::vector<std::int16_t>& symbols) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(lines); ++i)
    symbols[i * columns + column] = symbol_of(values[i], step);
}

float largest_symbol(const float* values, std::int64_t count, float step) {
  float largest = 1;
  for (std::int64_t i = 0; i < count; ++i)
    largest = std::max(largest, std::fabs(static_cast<float>(symbol_of(values[i], step))));
  return largest;
}

entropy::PlaneOptions plane_options(Backend backend) {
  return {.model = entropy::PlaneModel::kPeaked, .backend = backend};
}

// Symbols of one side of the components: a plane [line, component].
Result<std::vector<std::int16_t>> read_plane(std::int64_t lines, std::int64_t columns,
                                             Backend backend, ByteReader& in) {
  std::vector<std::int16_t> symbols(static_cast<std::size_t>(lines * columns));
  ByteReader rest = in;
  const auto bytes = entropy::decode_plane(rest.get_bytes(rest.left()), lines, columns,
                                           plane_options(backend), std::span(symbols));
  if (!bytes) return bytes.error();
  (void)in.get_bytes(*bytes);
  return symbols;
}

}  // namespace

Components quantise(const Principal& principal, std::int64_t num_tokens, std::int64_t num_channels,
                    double budget) {
  const Measured measured = measure(principal, num_tokens, num_channels);
  const std::vector<int> picked = allocate(measured.choices, budget);
  Components result{.num_tokens = num_tokens, .num_channels = num_channels};
  std::vector<std::size_t> kept;
  std::vector<float> sizes;
  float most = 0;
  for (std::size_t j = 0; j < picked.size(); ++j) {
    const float size = measured.sizes[j * kNumChoices + static_cast<std::size_t>(picked[j])];
    if (picked[j] == 0 || !(size > 0)) continue;
    const float* channels = principal.channels.data() + static_cast<std::int64_t>(j) * num_channels;
    kept.push_back(j);
    sizes.push_back(size);
    most = std::max(most,
                    size * largest_symbol(channels, num_channels, step_of(picked[j], num_tokens)));
  }
  result.unit = most / kWeightMax;
  result.tokens.resize(kept.size() * static_cast<std::size_t>(num_tokens));
  result.channels.resize(kept.size() * static_cast<std::size_t>(num_channels));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto j = static_cast<std::int64_t>(kept[i]);
    const float step = step_of(picked[kept[i]], num_tokens);
    const float weight = uniform::round_half_even(sizes[i] / result.unit);
    result.weights.push_back(static_cast<std::uint16_t>(std::clamp(weight, 1.0F, kWeightMax)));
    put_column(principal.tokens.data() + j * num_tokens, num_tokens, step, i, kept.size(),
               result.tokens);
    put_column(principal.channels.data() + j * num_channels, num_channels, step, i, kept.size(),
               result.channels);
  }
  return result;
}

std::int64_t put_components(const Components& components, Backend backend, ByteWriter& out) {
  out.put(static_cast<std::uint16_t>(components.count()));
  out.put(components.unit);
  for (const std::uint16_t weight : components.weights) out.put(weight);
  entropy::PlaneEncoder planes(out);
  const auto tokens = planes.encode({components.num_tokens, components.count(), components.tokens},
                                    plane_options(backend));
  const auto channels = planes.encode(
      {components.num_channels, components.count(), components.channels}, plane_options(backend));
  return 2 + 4 + 2 * components.count() + tokens.side_bytes() + channels.side_bytes();
}

Result<Components> read_components(std::int64_t num_tokens, std::int64_t num_channels,
                                   Backend backend, ByteReader& in) {
  Components result{.num_tokens = num_tokens, .num_channels = num_channels};
  const std::int64_t count = in.get<std::uint16_t>();
  result.unit = in.get<float>();
  if (count > std::min({num_tokens, num_channels, kMaxComponents}))
    return damaged("a section with more components than its shape has");
  for (std::int64_t j = 0; j < count; ++j) result.weights.push_back(in.get<std::uint16_t>());
  if (!in.ok()) return damaged("a section that ends in its components");
  if (!std::isfinite(result.unit) || result.unit < 0)
    return damaged("a unit of components that is not a finite number >= 0");
  auto tokens = read_plane(num_tokens, count, backend, in);
  if (!tokens) return tokens.error();
  auto channels = read_plane(num_channels, count, backend, in);
  if (!channels) return channels.error();
  result.tokens = std::move(*tokens);
  result.channels = std::move(*channels);
  return result;
}

std::vector<std::int16_t> paired_basis(const Components& components) {
  const auto count = components.weights.size();
  const auto channels = static_cast<std::size_t>(components.num_channels);
  std::vector<std::int16_t> basis((count + 1) / 2 * channels * 2);
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t j = 0; j < count; ++j) {
      const std::int32_t product =
          std::int32_t{components.channels[c * count + j]} * components.weights[j];
      basis[(j / 2 * channels + c) * 2 + j % 2] = static_cast<std::int16_t>(product);
    }
  }
  return basis;
}

std::vector<std::int16_t> paired_tokens(const Components& components) {
  const auto count = components.weights.size();
  if (count % 2 == 0) return components.tokens;
  std::vector<std::int16_t> padded;
  padded.reserve((count + 1) * static_cast<std::size_t>(components.num_tokens));
  for (std::size_t t = 0; t < static_cast<std::size_t>(components.num_tokens); ++t) {
    const auto row = components.tokens.begin() + static_cast<std::ptrdiff_t>(t * count);
    padded.insert(padded.end(), row, row + static_cast<std::ptrdiff_t>(count));
    padded.push_back(0);
  }
  return padded;
}

}  // namespace sluice::transform
