#include <algorithm>
#include <cmath>
#include <cstring>

#include "codec/codable.h"
#include "codec/float16.h"
#include "codec/sluice/kernel.h"
#include "codec/uniform/scale.h"

namespace sluice::ladder {
namespace {

void synthesise_row(const std::int16_t* symbols, const BlockBasis& basis, std::int32_t* sums) {
  std::fill_n(sums, basis.width, 0);
  for (std::int64_t j = 0; j < basis.width; ++j) {
    const std::int32_t symbol = symbols[j];
    if (symbol == 0) continue;
    const std::int8_t* const row = basis.factors + j * basis.width;
    for (std::int64_t c = 0; c < basis.width; ++c) {
      // As unsigned: modulo 2^32 is then defined. A product fits 31 bits.
      sums[c] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[c]) +
                                          static_cast<std::uint32_t>(symbol * row[c]));
    }
  }
}

void synthesise(const std::int16_t* symbols, std::int64_t rows, std::int64_t stride,
                const BlockBasis& basis, std::int32_t* sums) {
  for (std::int64_t row = 0; row < rows; ++row)
    synthesise_row(symbols + row * stride, basis, sums + row * stride);
}

// One head of a token. Number: what its channels are before they are scaled.
template <typename Number>
class HeadWriter {
 public:
  HeadWriter(const Number* numbers, const RowScale& row, const TokenTarget& to, std::int64_t head)
      : numbers_(numbers + head * to.dim),
        step_(row.step),
        scales_(row.scales + head * to.dim),
        offsets_(row.offsets + head * to.dim),
        dtype_(to.dtype),
        elements_(to.elements + head * to.head_bytes) {}

  void write(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t c = begin; c < end; ++c) put(c, value(c));
  }
  void write_turned(const Turn& turn) const {
    std::int64_t first = turn.pairing.first;
    for (std::int64_t i = 0; i < turn.pairs; ++i, first += turn.pairing.step) {
      const std::int64_t second = first + turn.pairing.distance;
      const float a = value(first), b = value(second);
      const float ac = a * turn.cosines[i], bs = b * turn.sines[i];
      const float bc = b * turn.cosines[i], as = a * turn.sines[i];
      put(first, ac - bs);
      put(second, bc + as);
    }
  }

 private:
  [[nodiscard]] float value(std::int64_t c) const {
    const float step = step_ * scales_[c];
    const float product = step * static_cast<float>(numbers_[c]);
    return product + offsets_[c];
  }
  void put(std::int64_t c, float value) const {
    const float kept = codable(value);
    if (dtype_ == Dtype::kFp32) return store(c, kept);
    store(c, dtype_ == Dtype::kFp16 ? fp32_to_fp16(kept) : fp32_to_bf16(kept));
  }
  template <typename Element>
  void store(std::int64_t c, Element element) const {
    std::memcpy(elements_ + c * static_cast<std::int64_t>(sizeof element), &element,
                sizeof element);
  }

  const Number* numbers_;
  float step_;
  const float* scales_;
  const float* offsets_;
  Dtype dtype_;
  std::byte* elements_;
};

template <typename Number>
void finish(const Number* numbers, const RowScale& row, const Turn& turn, const TokenTarget& to) {
  const std::int64_t turned = turn.pairs == 0 ? 0 : turn.pairing.first;
  for (std::int64_t head = 0; head < to.heads; ++head) {
    const HeadWriter<Number> writer(numbers, row, to, head);
    writer.write(0, turned);
    writer.write_turned(turn);
    writer.write(turned + 2 * turn.pairs, to.dim);
  }
}

void finish_symbols(const std::int16_t* symbols, const RowScale& row, const Turn& turn,
                    const TokenTarget& to) {
  finish(symbols, row, turn, to);
}

void finish_sums(const std::int32_t* sums, const RowScale& row, const Turn& turn,
                 const TokenTarget& to) {
  finish(sums, row, turn, to);
}

void sines_of(const double* angles, std::int64_t count, double* sines, double* cosines) {
  for (std::int64_t i = 0; i < count; ++i) {
    const SineCosine both = sine_cosine(angles[i]);
    sines[i] = both.sine;
    cosines[i] = both.cosine;
  }
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
                             .finish_symbols = finish_symbols,
                             .finish_sums = finish_sums,
                             .sines_of = sines_of,
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
