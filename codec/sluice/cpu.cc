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

// One token of a head. Number: what its channels are before they are scaled.
template <typename Number>
class LineWriter {
 public:
  LineWriter(const Number* numbers, std::int64_t piece_stride, const HeadFinish& head,
             std::int64_t row)
      : numbers_(numbers),
        piece_stride_(piece_stride),
        head_(head),
        row_(row),
        elements_(head.elements + row * head.row_bytes) {}

  void write(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t c = begin; c < end; ++c) put(c, value(c));
  }
  void write_turned() const {
    const Turn& turn = head_.turn;
    std::int64_t first = turn.pairing.first;
    for (std::int64_t i = 0; i < turn.pairs; ++i, first += turn.pairing.step) {
      const std::int64_t second = first + turn.pairing.distance;
      const float cosine = turn.cosines[row_ * turn.pairs + i];
      const float sine = turn.sines[row_ * turn.pairs + i];
      const float a = value(first), b = value(second);
      const float ac = a * cosine, bs = b * sine;
      const float bc = b * cosine, as = a * sine;
      put(first, ac - bs);
      put(second, bc + as);
    }
  }

 private:
  [[nodiscard]] float value(std::int64_t c) const {
    const Number number = numbers_[c / entropy::kLanes * piece_stride_ + c % entropy::kLanes];
    const float step = head_.steps[row_] * head_.scales[c];
    const float product = step * static_cast<float>(number);
    return product + head_.offsets[c];
  }
  void put(std::int64_t c, float value) const {
    const float kept = codable(value);
    if (head_.dtype == Dtype::kFp32) return store(c, kept);
    store(c, head_.dtype == Dtype::kFp16 ? fp32_to_fp16(kept) : fp32_to_bf16(kept));
  }
  template <typename Element>
  void store(std::int64_t c, Element element) const {
    std::memcpy(elements_ + c * static_cast<std::int64_t>(sizeof element), &element,
                sizeof element);
  }

  const Number* numbers_;
  std::int64_t piece_stride_;
  const HeadFinish& head_;
  std::int64_t row_;
  std::byte* elements_;
};

template <typename Number>
void finish(const HeadLines<Number>& numbers, const HeadFinish& head) {
  const std::int64_t turned = head.turn.pairs == 0 ? 0 : head.turn.pairing.first;
  for (std::int64_t line = 0; line < numbers.lines; ++line) {
    const std::int64_t row = numbers.order == nullptr ? line : numbers.order[line];
    const LineWriter<Number> writer(numbers.first + line * numbers.line_stride,
                                    numbers.piece_stride, head, row);
    writer.write(0, turned);
    writer.write_turned();
    writer.write(turned + 2 * head.turn.pairs, head.dim);
  }
}

void finish_symbols(const HeadLines<std::int16_t>& symbols, const HeadFinish& head) {
  finish(symbols, head);
}

void finish_sums(const HeadLines<std::int32_t>& sums, const HeadFinish& head) {
  finish(sums, head);
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

void analyse(const float* values, std::int64_t rows, std::int64_t stride, const float* inverse,
             std::int64_t width, float* out) {
  for (std::int64_t t = 0; t < rows; ++t, values += stride, out += stride) {
    std::fill_n(out, width, 0.0F);
    for (std::int64_t c = 0; c < width; ++c) {
      const float* const row = inverse + c * width;
      for (std::int64_t j = 0; j < width; ++j) out[j] = out[j] + values[c] * row[j];
    }
  }
}

void add_moments(const float* values, std::int64_t count, double* sums, double* squares) {
  for (std::int64_t c = 0; c < count; ++c) {
    const auto value = static_cast<double>(values[c]);
    sums[c] += value;
    if (squares != nullptr) squares[c] += value * value;
  }
}

float largest_distance(const float* values, const float* offsets, std::int64_t count) {
  float largest = 0;
  for (std::int64_t c = 0; c < count; ++c)
    largest = std::max(largest, std::abs(values[c] - offsets[c]));
  return largest;
}

void quantise(const float* values, const float* offsets, float factor, std::int64_t count,
              std::int16_t* out) {
  for (std::int64_t j = 0; j < count; ++j) {
    const float scaled = (values[j] - offsets[j]) * factor;
    const float kept = scaled != scaled ? 0.0F : std::clamp(scaled, -kSymbolMax, kSymbolMax);
    out[j] = static_cast<std::int16_t>(uniform::round_half_even(kept));
  }
}

void coarsen(const std::int16_t* symbols, std::int64_t count, int times, std::int16_t* out) {
  for (std::int64_t j = 0; j < count; ++j) {
    std::int32_t q = symbols[j];
    for (int i = 0; i < times; ++i) q = (q + (q >= 0 ? 1 : -1)) / 3;  // no ties
    out[j] = static_cast<std::int16_t>(q);
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
                             .add_moments = add_moments,
                             .largest_distance = largest_distance,
                             .quantise = quantise,
                             .coarsen = coarsen};

const Kernels& kernels_of(Backend backend) {
#if SLUICE_AVX2
  if (backend == Backend::kAvx2) return kAvx2Kernels;
#endif
  (void)backend;
  return kScalarKernels;
}

}  // namespace sluice::ladder
