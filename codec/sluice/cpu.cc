#include <algorithm>
#include <cmath>

#include "codec/sluice/kernel.h"
#include "codec/uniform/scale.h"

namespace sluice::ladder {
namespace {

void synthesise(const std::int16_t* symbols, const BlockBasis& basis, std::int32_t* sums) {
  std::fill_n(sums, basis.width, 0);
  for (std::int64_t j = 0; j < basis.width; ++j) {
    const std::int32_t symbol = symbols[j];
    if (symbol == 0) continue;
    const std::int16_t* const row = basis.pairs + j / 2 * 2 * basis.width + j % 2;
    for (std::int64_t c = 0; c < basis.width; ++c) {
      // As unsigned: modulo 2^32 is then defined. A product fits 31 bits.
      sums[c] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[c]) +
                                          static_cast<std::uint32_t>(symbol * row[2 * c]));
    }
  }
}

template <typename Number>
void scale_numbers(const Number* numbers, std::int64_t channels, const RowScale& row,
                   float* values) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const float step = row.step * row.scales[c];
    const float product = step * static_cast<float>(numbers[c]);
    values[c] = product + row.offsets[c];
  }
}

void scale_symbols(const std::int16_t* symbols, std::int64_t channels, const RowScale& row,
                   float* values) {
  scale_numbers(symbols, channels, row, values);
}

void scale_sums(const std::int32_t* sums, std::int64_t channels, const RowScale& row,
                float* values) {
  scale_numbers(sums, channels, row, values);
}

void rotate(const float* cosines, const float* sines, std::int64_t pairs, const Pairing& pairing,
            float* head) {
  float* a = head + pairing.first;
  for (std::int64_t i = 0; i < pairs; ++i, a += pairing.step) {
    float& first = a[0];
    float& second = a[pairing.distance];
    const float ac = first * cosines[i], bs = second * sines[i];
    const float bc = second * cosines[i], as = first * sines[i];
    first = ac - bs;
    second = bc + as;
  }
}

void rotate_back(const float* cosines, const float* sines, std::int64_t pairs,
                 const Pairing& pairing, float* head) {
  float* a = head + pairing.first;
  for (std::int64_t i = 0; i < pairs; ++i, a += pairing.step) {
    float& first = a[0];
    float& second = a[pairing.distance];
    const float ac = first * cosines[i], bs = second * sines[i];
    const float bc = second * cosines[i], as = first * sines[i];
    first = ac + bs;
    second = bc - as;
  }
}

void normalise(const float* means, const float* inverse_scales, std::int64_t channels,
               float* values) {
  for (std::int64_t c = 0; c < channels; ++c)
    values[c] = (values[c] - means[c]) * inverse_scales[c];
}

void analyse(const float* values, const float* inverse, std::int64_t width, float* out) {
  std::fill_n(out, width, 0.0F);
  for (std::int64_t c = 0; c < width; ++c) {
    const float value = values[c];
    const float* const row = inverse + c * width;
    for (std::int64_t j = 0; j < width; ++j) out[j] = out[j] + value * row[j];
  }
}

void quantise(const float* values, const float* offsets, float factor, std::int64_t count,
              float limit, std::int32_t* out) {
  for (std::int64_t j = 0; j < count; ++j) {
    const float scaled = (values[j] - offsets[j]) * factor;
    const float kept = scaled != scaled ? 0.0F : std::clamp(scaled, -limit, limit);
    out[j] = static_cast<std::int32_t>(uniform::round_half_even(kept));
  }
}

}  // namespace

const Kernels kScalarKernels{.synthesise = synthesise,
                             .scale_symbols = scale_symbols,
                             .scale_sums = scale_sums,
                             .rotate = rotate,
                             .rotate_back = rotate_back,
                             .normalise = normalise,
                             .analyse = analyse,
                             .quantise = quantise};

const Kernels& kernels_of(Backend backend) {
#if SLUICE_AVX2
  if (backend == Backend::kAvx2) return kAvx2Kernels;
#endif
  (void)backend;
  return kScalarKernels;
}

}  // namespace sluice::ladder
