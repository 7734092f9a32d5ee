#include <algorithm>
#include <cmath>

#include "codec/bytes.h"
#include "codec/entropy/binding.h"
#include "codec/float16.h"
#include "codec/row_convert.h"
#include "codec/sluice/basis.h"
#include "codec/sluice/payload.h"
#include "codec/sluice/rungs.h"
#include "codec/sluice/token_classes.h"

namespace sluice::ladder {
namespace {

using Unit = UnitOf<TensorView>;

// Channel offsets pay from so many tokens on: with means from a profile they are small.
constexpr std::size_t kOffsetRows = 64, kOffsetRowsWithProfile = 256;

// The rung whose grid a rung's symbols are taken from: the finest of its residue up to
// kFinestCommonRung, so that prefixes of digits are exactly the coarser rungs.
int grid_rung(int rung) {
  if (rung > kFinestCommonRung) return rung;
  return rung + (kFinestCommonRung - rung) / kDigitRungs * kDigitRungs;
}

// What the units of a section share: memory that the first of them fills, and tables.
struct Workspace {
  std::vector<float> values;          // [row, channel]: keys and values, then coefficients
  std::vector<std::int16_t> symbols;  // [row, coefficient], of the finest coded rung
  std::vector<std::int16_t> coarse, fine;
  std::vector<std::int8_t> digits;
  RotationTables rotations{true};
};

// One layer's coefficients, and what is sent beside them.
class UnitEncoder {
 public:
  UnitEncoder(const SectionContext& context, const Unit& unit, Workspace& work)
      : context_(context),
        unit_(unit),
        planes_(planes_of(context.level)),
        kernels_(kernels_of(context.backend)),
        channels_(static_cast<std::size_t>(unit.channels())),
        first_row_(unit.begins_the_context() ? 1 : 0),
        rows_(static_cast<std::size_t>(unit.tokens() - first_row_)),
        values_(work.values),
        symbols_(work.symbols),
        work_(work) {
    read_values();
    analyse();
    choose_offsets();
    classes_ = token_classes(unit_, first_row_);
    limit_classes();
    quantise();
  }

  // Appends refinement 0 or a later one; returns the bytes that are not symbols.
  std::int64_t write(ByteWriter& out) {
    entropy::PlaneEncoder planes(out);
    const auto shifts = row_shifts(classes_, has_classes());
    const auto options = plane_options(unit_.tensors[0].values.shape.dim, shifts, context_.backend);
    const int coded_digits = planes_.base_digits + planes_.refinements;
    if (context_.refinement > 0) {
      return write_digits(out, coded_digits - planes_.base_digits - context_.refinement, options);
    }
    std::int64_t side_bytes = write_front(out, planes);
    const auto base = symbols_at(coded_digits, work_.coarse);
    const auto stats = planes.encode({rows(), channels(), base}, options);
    side_bytes += stats.side_bytes();
    for (int digit = 1; digit <= planes_.base_digits; ++digit)
      side_bytes += write_digits(out, coded_digits - digit, options);
    return side_bytes;
  }

  // The squared error of the coefficients, each in units of its token's class, of what the section
  // and those below it decode to.
  [[nodiscard]] double distortion() const {
    const int below = planes_.refinements - context_.refinement;
    const float step = step_of(planes_.rung(context_.refinement));
    const auto symbols = symbols_at(below, work_.coarse);
    double sum = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
      const float factor = class_factor(classes_[r]);
      double row = 0;
      for (std::size_t c = 0; c < channels_; ++c) {
        const std::int16_t q = symbols[r * channels_ + c];
        const float wanted = values_[r * channels_ + c] - offset_values_[c];
        const float error = wanted - static_cast<float>(q) * (step * factor);
        row += static_cast<double>(error) * static_cast<double>(error);
      }
      sum += row / static_cast<double>(factor * factor);
    }
    return sum;
  }

 private:
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(rows_); }
  [[nodiscard]] std::int64_t channels() const { return static_cast<std::int64_t>(channels_); }
  [[nodiscard]] bool has_classes() const {
    return std::any_of(classes_.begin(), classes_.end(), [](std::int8_t k) { return k != 0; });
  }
  std::span<float> row(std::size_t index) {
    return std::span(values_).subspan(index * channels_, channels_);
  }

  // Tokens after the raw one, codable, keys as before their rotation.
  void read_values() {
    values_.resize(rows_ * channels_);
    const auto positions = positions_of(unit_, first_row_);
    std::size_t first = 0;
    for (const SectionTensor& tensor : unit_.tensors) {
      const TensorShape& shape = tensor.values.shape;
      const auto count = static_cast<std::size_t>(shape.channels());
      const bool turns = is_rotated(context_, tensor.kind, tensor.rope, shape.dim);
      const auto rotation =
          turns ? work_.rotations.of(*tensor.rope, positions, context_.backend) : nullptr;
      for (std::size_t r = 0; r < rows_; ++r) {
        const std::span<float> part = row(r).subspan(first, count);
        tensor.values.read_token(static_cast<std::int64_t>(r) + first_row_, part, context_.backend);
        make_codable(part, context_.backend);
        if (!turns) continue;
        rotate_heads(*rotation, r, shape.dim, part, kernels_.rotate_back);
        make_codable(part, context_.backend);  // attention factors may be anything
      }
      first += count;
    }
  }

  // The root mean square around channel means of one tensor's channels [first, first + count); at
  // least 1/256 of the plain one, below which a 16-bit source holds rounding alone.
  [[nodiscard]] float spread(std::size_t first, std::size_t count) {
    std::vector<double> sums(count), squares(count);
    for (std::size_t r = 0; r < rows_; ++r) {
      kernels_.add_moments(row(r).data() + first, static_cast<std::int64_t>(count), sums.data(),
                           squares.data());
    }
    double power = 0, variance = 0;
    const auto tokens = static_cast<double>(rows_);
    for (std::size_t c = 0; c < count; ++c) {
      const double mean = sums[c] / tokens;
      power += squares[c] / tokens;
      variance += std::max(0.0, squares[c] / tokens - mean * mean);
    }
    const double least = power / (256.0 * 256.0);
    return static_cast<float>(std::sqrt(std::max(variance, least) / static_cast<double>(count)));
  }

  // What the stream can say: see is_valid_scale(). 65280 is the largest bf16 below 65504.
  static float scale_for(float spread) {
    return spread >= 1e-9F ? std::min(spread, 65280.0F) : 1.0F;  // NaN and 0: any scale will do
  }

  // Without a profile.
  void measure_scales() {
    std::vector<TensorScale> scales;
    std::size_t first = 0;
    for (const SectionTensor& tensor : unit_.tensors) {
      const std::int64_t count = tensor.values.shape.channels();
      const float measured = rows_ == 0 ? 0 : spread(first, static_cast<std::size_t>(count));
      scale_bits_.push_back(fp32_to_bf16(scale_for(measured)));
      scales.push_back({count, bf16_to_fp32(scale_bits_.back())});
      first += static_cast<std::size_t>(count);
    }
    basis_ = basis_of(scales);
  }

  // Values to coefficients, in place.
  void analyse() {
    const LayerProfile* layer = profile_of(context_.model_profile, unit_);
    has_profile_ = layer != nullptr;
    std::span<const float> inverse;
    if (has_profile_) {
      basis_ = basis_of(*layer);
      inverse = context_.model_profile->inverse(
          static_cast<std::size_t>(layer - context_.model_profile->layers.data()));
    } else {
      measure_scales();
    }
    std::vector<float> inverse_scales;
    for (const float scale : basis_.scales) inverse_scales.push_back(1.0F / scale);
    for (std::size_t r = 0; r < rows_; ++r)
      kernels_.normalise(basis_.means.data(), inverse_scales.data(), channels(), row(r).data());
    if (!basis_.blocks.empty()) multiply(inverse.data());
  }

  // Each row's blocks by their matrices, in place.
  void multiply(const float* inverse) {
    constexpr std::size_t kRowsAtOnce = 60;
    std::vector<float> coefficients(kRowsAtOnce * channels_);
    for (std::size_t r = 0; r < rows_; r += kRowsAtOnce) {
      const std::size_t count = std::min(kRowsAtOnce, rows_ - r);
      std::int64_t first = 0;
      const float* matrix = inverse;
      for (const BlockBasis& block : basis_.blocks) {
        kernels_.analyse(row(r).data() + first, static_cast<std::int64_t>(count), channels(),
                         matrix, block.width, coefficients.data() + first);
        first += block.width;
        matrix += block.width * block.width;
      }
      std::copy_n(coefficients.begin(), count * channels_, row(r).begin());
    }
  }

  void choose_offsets() {
    offset_values_.assign(channels_, 0.0F);
    if (rows_ < (has_profile_ ? kOffsetRowsWithProfile : kOffsetRows)) return;
    std::vector<double> sums(channels_);
    for (std::size_t r = 0; r < rows_; ++r)
      kernels_.add_moments(row(r).data(), channels(), sums.data(), nullptr);
    std::vector<float> means(channels_);
    for (std::size_t c = 0; c < channels_; ++c)
      means[c] = static_cast<float>(sums[c] / static_cast<double>(rows_));
    offsets_.resize(channels_);
    kernels_.quantise(means.data(), offset_values_.data(), 1.0F / kOffsetStep, channels(),
                      offsets_.data());
    for (std::size_t c = 0; c < channels_; ++c)
      offset_values_[c] = kOffsetStep * static_cast<float>(offsets_[c]);
  }

  // Coarser classes where symbols would pass 16 bits: for every rung up to the common one alike, so
  // that they stay prefixes of each other.
  void limit_classes() {
    const int coded = planes_.rung(planes_.refinements);
    const float step = step_of(std::max(coded, kFinestCommonRung));
    for (std::size_t r = 0; r < rows_; ++r) {
      const float largest =
          kernels_.largest_distance(row(r).data(), offset_values_.data(), channels());
      std::int8_t& k = classes_[r];
      while (k < kClassHigh && largest > kSymbolMax * step * class_factor(k)) ++k;
    }
  }

  // Symbols of the finest coded rung.
  void quantise() {
    const int coded = planes_.rung(planes_.refinements);
    const int grid = grid_rung(coded);
    const int thirds = (grid - coded) / kDigitRungs;
    symbols_.resize(rows_ * channels_);
    for (std::size_t r = 0; r < rows_; ++r) {
      const float factor = 1.0F / (step_of(grid) * class_factor(classes_[r]));
      std::int16_t* const out = symbols_.data() + r * channels_;
      kernels_.quantise(row(r).data(), offset_values_.data(), factor, channels(), out);
      if (thirds > 0) kernels_.coarsen(out, channels(), thirds, out);
    }
  }

  // So many digits below the finest coded rung; `room` is filled where that is not the rung itself.
  [[nodiscard]] std::span<const std::int16_t> symbols_at(int digits,
                                                         std::vector<std::int16_t>& room) const {
    if (digits == 0) return symbols_;
    room.resize(symbols_.size());
    kernels_.coarsen(symbols_.data(), std::ssize(symbols_), digits, room.data());
    return room;
  }

  // The digit that carries the symbols from `below` + 1 digits below the finest to `below`.
  std::int64_t write_digits(ByteWriter& out, int below, const entropy::PlaneOptions& options) {
    const auto coarse = symbols_at(below + 1, work_.coarse);
    const auto fine = symbols_at(below, work_.fine);
    work_.digits.resize(fine.size());
    for (std::size_t i = 0; i < fine.size(); ++i)
      work_.digits[i] = static_cast<std::int8_t>(fine[i] - 3 * coarse[i]);
    const auto plane = entropy::encode_digits({rows(), channels(), coarse}, work_.digits, options);
    out.put_bytes(plane.bytes);
    return plane.stats.side_bytes();
  }

  // All that stands before the symbols.
  std::int64_t write_front(ByteWriter& out, entropy::PlaneEncoder& planes) {
    const std::size_t before = out.bytes().size();
    out.put(static_cast<std::uint8_t>((first_row_ == 1 ? kHasRawToken : 0) |
                                      (offsets_.empty() ? 0 : kHasOffsets) |
                                      (has_classes() ? kHasClasses : 0)));
    for (const std::uint16_t bits : scale_bits_) out.put(bits);
    if (first_row_ == 1) {
      for (const SectionTensor& tensor : unit_.tensors) write_raw_token(out, tensor.values);
    }
    if (has_classes()) {
      const std::vector<std::int16_t> classes(classes_.begin(), classes_.end());
      (void)planes.encode({rows(), 1, classes}, {.backend = context_.backend});
    }
    if (!offsets_.empty())
      (void)planes.encode({channels(), 1, offsets_}, {.backend = context_.backend});
    return static_cast<std::int64_t>(out.bytes().size() - before);
  }

  void write_raw_token(ByteWriter& out, const TensorView& values) {
    const TensorShape& shape = values.shape;
    std::vector<float> channels(static_cast<std::size_t>(shape.channels()));
    values.read_token(0, channels, context_.backend);
    make_codable(channels, context_.backend);
    std::vector<std::byte> row(channels.size() *
                               static_cast<std::size_t>(bytes_per_element(shape.dtype)));
    row_convert(shape.dtype, context_.backend)
        .from_fp32(channels.data(), shape.channels(), row.data());
    out.put_bytes(row);
  }

  const SectionContext& context_;
  const Unit& unit_;
  LevelPlanes planes_;
  const Kernels& kernels_;
  std::size_t channels_;
  std::int64_t first_row_;  // token of row 0
  std::size_t rows_;
  bool has_profile_ = false;
  std::vector<std::uint16_t> scale_bits_;  // bf16, of each tensor; none with a profile
  UnitBasis basis_;
  std::vector<float>& values_;
  std::vector<std::int16_t> offsets_;  // [coefficient], in kOffsetStep; empty: none
  std::vector<float> offset_values_;   // the same in units of coefficients
  std::vector<std::int8_t> classes_;   // [row]
  std::vector<std::int16_t>& symbols_;
  Workspace& work_;
};

}  // namespace

Result<EncodedSection> encode_section(const SectionContext& context,
                                      std::span<const SectionTensor> tensors) {
  ByteWriter out;
  EncodedSection section;
  const bool is_layered = planes_of(context.level).refinements > 0;
  Workspace work;
  for (const Unit& unit : units_of(tensors)) {
    UnitEncoder encoder(context, unit, work);
    section.side_bytes += encoder.write(out);
    if (is_layered) section.distortion += encoder.distortion();
  }
  section.payload = std::move(out).take();
  return section;
}

}  // namespace sluice::ladder
