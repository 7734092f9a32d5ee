// A block's components as whole numbers: what the payload holds of them.
// Where in the flow: the encoder quantises principal components to them, the decoder reads them and
// synthesises.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "codec/bytes.h"
#include "codec/transform/principal.h"

namespace sluice::transform {

// Encoders look for no more: time and the decoder's work per element grow with them, and a
// stranger's file must not ask for more either.
inline constexpr std::int64_t kMaxComponents = 384;

// x[t, c] = unit * sum over j of tokens[t, j] * (weights[j] * channels[c, j]).
struct Components {
  std::int64_t num_tokens = 0, num_channels = 0;
  float unit = 0;
  std::vector<std::uint16_t> weights;  // [component], at least 1
  std::vector<std::int16_t> tokens;    // [token, component]
  std::vector<std::int16_t> channels;  // [channel, component]

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(weights.size()); }
};

// The best within about `budget` bits.
[[nodiscard]] Components quantise(const Principal& principal, std::int64_t num_tokens,
                                  std::int64_t num_channels, double budget);

// Returns the bytes that are not symbols.
std::int64_t put_components(const Components& components, Backend backend, ByteWriter& out);
// Any bytes are safe. `in` starts with them.
[[nodiscard]] Result<Components> read_components(std::int64_t num_tokens, std::int64_t num_channels,
                                                 Backend backend, ByteReader& in);

// Two rows of weights[j] * channels[c, j] interleaved, as Kernels::synthesise wants them, modulo
// 2^16; an odd last row is paired with zeros.
[[nodiscard]] std::vector<std::int16_t> paired_basis(const Components& components);
// The tokens' symbols with the same padding.
[[nodiscard]] std::vector<std::int16_t> paired_tokens(const Components& components);

}  // namespace sluice::transform
