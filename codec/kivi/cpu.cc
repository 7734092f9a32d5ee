#include <algorithm>

#include "codec/kivi/kernel.h"
#include "codec/kivi/scale.h"

namespace sluice::kivi {

void quantise_token(const float* values, std::int64_t count, const TokenScales& scales, int bits,
                    std::uint8_t* codes) {
  const auto code_max = static_cast<float>((1 << bits) - 1);
  const std::int64_t per_byte = 8 / bits;
  std::fill_n(codes, (count + per_byte - 1) / per_byte, std::uint8_t{0});
  for (std::int64_t c = 0; c < count; ++c) {
    const std::int64_t g = c / scales.group;
    const float code = code_of(values[c], scales.scales[g], scales.zeros[g], code_max);
    const unsigned shifted = static_cast<unsigned>(code) << (c % per_byte * bits);
    codes[c / per_byte] = static_cast<std::uint8_t>(codes[c / per_byte] | shifted);
  }
}

void dequantise_token(const std::uint8_t* codes, std::int64_t count, const TokenScales& scales,
                      int bits, float* values) {
  const std::int64_t per_byte = 8 / bits;
  const int mask = (1 << bits) - 1;
  for (std::int64_t c = 0; c < count; ++c) {
    const std::int64_t g = c / scales.group;
    const int code = codes[c / per_byte] >> (c % per_byte * bits) & mask;
    values[c] = value_of(static_cast<float>(code), scales.scales[g], scales.zeros[g]);
  }
}

QuantiseToken quantise_token_of(Backend backend) {
#if SLUICE_AVX2
  if (backend == Backend::kAvx2) return quantise_token_avx2;
#endif
  (void)backend;
  return quantise_token;
}

}  // namespace sluice::kivi
