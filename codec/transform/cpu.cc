#include <algorithm>

#include "codec/transform/kernel.h"

namespace sluice::transform {
namespace {

void multiply(const float* a, const float* b, std::int64_t rows, std::int64_t inner,
              std::int64_t columns, float* c) {
  constexpr std::int64_t kTile = 32;  // columns whose sums stay in registers
  for (std::int64_t first = 0; first < columns; first += kTile) {
    const std::int64_t count = std::min(kTile, columns - first);
    for (std::int64_t i = 0; i < rows; ++i) {
      float sums[kTile]{};
      for (std::int64_t j = 0; j < inner; ++j) {
        const float factor = a[i * inner + j];
        const float* const row = b + j * columns + first;
        for (std::int64_t k = 0; k < count; ++k) sums[k] += factor * row[k];
      }
      std::copy_n(sums, count, c + i * columns + first);
    }
  }
}

void synthesise(const std::int16_t* symbols, const std::int16_t* basis, std::int64_t tokens,
                std::int64_t pairs, std::int64_t channels, std::int32_t* sums) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t c = 0; c < channels; ++c) {
      std::uint32_t sum = 0;
      for (std::int64_t i = 0; i < pairs; ++i) {
        for (std::int64_t half = 0; half < 2; ++half) {
          const std::int32_t product = std::int32_t{symbols[(t * pairs + i) * 2 + half]} *
                                       basis[(i * channels + c) * 2 + half];
          sum += static_cast<std::uint32_t>(product);
        }
      }
      sums[t * channels + c] = static_cast<std::int32_t>(sum);
    }
  }
}

}  // namespace

const Kernels kScalarKernels{.multiply = multiply, .synthesise = synthesise};

const Kernels& kernels_of(Backend backend) {
#if SLUICE_AVX2
  if (backend == Backend::kAvx2) return kAvx2Kernels;
#endif
  (void)backend;
  return kScalarKernels;
}

}  // namespace sluice::transform
