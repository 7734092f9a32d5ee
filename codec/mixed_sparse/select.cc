#include "codec/mixed_sparse/select.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sluice::mixed_sparse {

std::vector<Entry> select_entries(std::span<const float> values, std::int64_t channels,
                                  std::span<const float> weights, int kept_percent,
                                  int zero_percent) {
  // The root, because damage shrinks with the squares of errors: 20 % less on the committed sample
  // than with the weights themselves.
  std::vector<float> importance(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float known = weights.empty() ? 1.0F : weights[i / static_cast<std::size_t>(channels)];
    const float weight = std::isfinite(known) && known > 0 ? std::sqrt(known) : 0.0F;
    importance[i] = std::fabs(values[i]) * weight;
  }
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    return importance[a] != importance[b] ? importance[a] > importance[b] : a < b;
  };
  const auto share = [&](int percent) {
    return static_cast<std::ptrdiff_t>(values.size()) * percent / 100;
  };
  const auto kept = order.begin() + share(kept_percent);
  const auto zero = order.end() - share(zero_percent);
  if (kept != order.end()) std::nth_element(order.begin(), kept, order.end(), is_before);
  if (zero != order.end()) std::nth_element(kept, zero, order.end(), is_before);
  std::vector<Entry> entries(values.size(), Entry::kCode);
  for (auto i = order.begin(); i != kept; ++i) entries[*i] = Entry::kKept;
  for (auto i = zero; i != order.end(); ++i) entries[*i] = Entry::kZero;
  return entries;
}

}  // namespace sluice::mixed_sparse
