#include <algorithm>
#include <cmath>

#include "codec/cachegen_published/kernel.h"
#include "codec/uniform/scale.h"

namespace sluice::cachegen_published {

double delta_rms(std::span<const float> channels, std::span<const float> anchor) {
  double sum = 0;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const double delta = static_cast<double>(channels[c]) - anchor[c];
    sum += delta * delta;
  }
  return std::sqrt(sum / static_cast<double>(channels.size()));
}

void quantise_delta(std::span<const float> channels, std::span<const float> anchor, float step,
                    std::span<std::int16_t> symbols) {
  for (std::size_t c = 0; c < channels.size(); ++c) {
    symbols[c] = delta_symbol(channels[c], anchor[c], step);
  }
}

}  // namespace sluice::cachegen_published
