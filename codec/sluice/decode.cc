#include <algorithm>
#include <cmath>

#include "codec/bytes.h"
#include "codec/damage.h"
#include "codec/entropy/binding.h"
#include "codec/float16.h"
#include "codec/row_convert.h"
#include "codec/sluice/basis.h"
#include "codec/sluice/payload.h"
#include "codec/sluice/rungs.h"

namespace sluice::ladder {
namespace {

using Unit = UnitOf<MutableTensorView>;
using Bytes = std::span<const std::byte>;

// Payloads of a section, from the base up, each read from its front.
class UnitDecoder {
 public:
  UnitDecoder(const SectionContext& context, const Unit& unit, std::span<Bytes> payloads)
      : context_(context),
        unit_(unit),
        payloads_(payloads),
        planes_(planes_of(context.level)),
        kernels_(kernels_of(context.backend)),
        channels_(static_cast<std::size_t>(unit.channels())) {}

  Status decode() {
    for (const auto step : {&UnitDecoder::read_front, &UnitDecoder::read_classes,
                            &UnitDecoder::read_offsets, &UnitDecoder::read_symbols}) {
      if (Status status = (this->*step)(); !status) return status;
    }
    write_tokens();
    return {};
  }

 private:
  [[nodiscard]] std::size_t num_rows() const {
    return static_cast<std::size_t>(unit_.tokens() - first_row_);
  }
  Bytes& base() { return payloads_[0]; }
  void advance(Bytes& bytes, std::size_t count) { bytes = bytes.subspan(count); }

  // Flags, scales and the raw first token.
  Status read_front() {
    ByteReader in(base());
    const auto flags = in.get<std::uint8_t>();
    if (!in.ok() || (flags & ~kAllFlags) != 0) return damaged("a layer with unknown flags");
    has_classes_ = (flags & kHasClasses) != 0;
    has_offsets_ = (flags & kHasOffsets) != 0;
    first_row_ = (flags & kHasRawToken) != 0 ? 1 : 0;
    if (const LayerProfile* layer = profile_of(context_.model_profile, unit_)) {
      basis_ = basis_of(*layer);
    } else if (Status status = read_scales(in); !status) {
      return status;
    }
    if (first_row_ == 1) {
      for (const auto& tensor : unit_.tensors) {
        if (Status status = read_raw_token(in, tensor.values); !status) return status;
      }
    }
    advance(base(), base().size() - in.left());
    return {};
  }

  Status read_scales(ByteReader& in) {
    std::vector<TensorScale> scales;
    for (const auto& tensor : unit_.tensors) {
      const float scale = bf16_to_fp32(in.get<std::uint16_t>());
      if (!in.ok() || !is_valid_scale(scale)) return damaged("a layer with a scale that is none");
      scales.push_back({tensor.values.shape.channels(), scale});
    }
    basis_ = basis_of(scales);
    return {};
  }

  Status read_raw_token(ByteReader& in, const MutableTensorView& values) {
    const TensorShape& shape = values.shape;
    const auto row =
        in.get_bytes(static_cast<std::size_t>(shape.channels() * bytes_per_element(shape.dtype)));
    if (!in.ok()) return damaged("a section that ends in a first token");
    std::vector<float> channels(static_cast<std::size_t>(shape.channels()));
    row_convert(shape.dtype, context_.backend)
        .to_fp32(row.data(), shape.channels(), channels.data());
    make_codable(channels, context_.backend);
    values.write_token(0, channels, context_.backend);
    return {};
  }

  // A plane of the base, into `symbols`.
  Status read_plane(std::size_t rows, std::size_t columns, const entropy::PlaneOptions& options,
                    std::vector<std::int16_t>& symbols) {
    symbols.resize(rows * columns);
    const auto bytes = entropy::decode_plane(base(), static_cast<std::int64_t>(rows),
                                             static_cast<std::int64_t>(columns), options, symbols);
    if (!bytes) return bytes.error();
    advance(base(), *bytes);
    return {};
  }

  Status read_classes() {
    classes_.assign(num_rows(), 0);
    if (!has_classes_) return {};
    std::vector<std::int16_t> symbols;
    if (Status status = read_plane(num_rows(), 1, {.backend = context_.backend}, symbols); !status)
      return status;
    for (std::size_t row = 0; row < symbols.size(); ++row) {
      if (symbols[row] < kClassLow || symbols[row] > kClassHigh)
        return damaged("a token class out of range");
      classes_[row] = static_cast<std::int8_t>(symbols[row]);
    }
    return {};
  }

  Status read_offsets() {
    std::vector<std::int16_t> offsets;
    if (has_offsets_) {
      if (Status status = read_plane(channels_, 1, {.backend = context_.backend}, offsets); !status)
        return status;
    }
    offsets_ = channel_offsets(basis_, offsets, kernels_);
    return {};
  }

  Status read_symbols() {
    const auto shifts = row_shifts(classes_, has_classes_);
    const auto options = plane_options(unit_.tensors[0].values.shape.dim, shifts, context_.backend);
    if (Status status = read_plane(num_rows(), channels_, options, symbols_); !status)
      return status;
    for (int digit = 0; digit < planes_.base_digits; ++digit) {
      if (Status status = read_digits(base(), options); !status) return status;
    }
    for (std::size_t refinement = 1; refinement < payloads_.size(); ++refinement) {
      if (Status status = read_digits(payloads_[refinement], options); !status) return status;
    }
    return {};
  }

  Status read_digits(Bytes& bytes, const entropy::PlaneOptions& options) {
    const auto count =
        entropy::decode_digits(bytes, static_cast<std::int64_t>(num_rows()),
                               static_cast<std::int64_t>(channels_), options, symbols_);
    if (!count) return count.error();
    advance(bytes, *count);
    return {};
  }

  void write_tokens() {
    const int rung = planes_.rung(static_cast<std::int32_t>(payloads_.size()) - 1);
    const float step = step_of(rung);
    const auto positions = positions_of(unit_, first_row_);
    std::vector<RotationTable> rotations;
    for (const auto& tensor : unit_.tensors) {
      const bool turns = is_rotated(context_, tensor.kind, tensor.rope, tensor.values.shape.dim);
      rotations.push_back(turns ? rotation_table(*tensor.rope, positions, false) : RotationTable{});
    }
    std::vector<float> values(channels_);
    std::vector<std::int32_t> sums(channels_);
    for (std::size_t row = 0; row < num_rows(); ++row) {
      synthesise_row(basis_, std::span(symbols_).subspan(row * channels_, channels_),
                     step * class_factor(classes_[row]), offsets_, kernels_, sums, values);
      write_token(row, rotations, values);
    }
  }

  void write_token(std::size_t row, std::span<const RotationTable> rotations,
                   std::span<float> values) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < unit_.tensors.size(); ++i) {
      const MutableTensorView& to = unit_.tensors[i].values;
      const auto count = static_cast<std::size_t>(to.shape.channels());
      const std::span<float> part = values.subspan(first, count);
      rotate_heads(rotations[i], row, to.shape.dim, part, kernels_.rotate);
      make_codable(part, context_.backend);
      to.write_token(static_cast<std::int64_t>(row) + first_row_, part, context_.backend);
      first += count;
    }
  }

  const SectionContext& context_;
  const Unit& unit_;
  std::span<Bytes> payloads_;
  LevelPlanes planes_;
  const Kernels& kernels_;
  std::size_t channels_;
  bool has_classes_ = false, has_offsets_ = false;
  std::int64_t first_row_ = 0;  // token of row 0
  UnitBasis basis_;
  std::vector<std::int8_t> classes_;   // [row]
  std::vector<float> offsets_;         // [channel]
  std::vector<std::int16_t> symbols_;  // [row, channel]
};

}  // namespace

Status decode_section(const SectionContext& context, Bytes payload,
                      std::span<const MutableSectionTensor> tensors) {
  std::vector<Bytes> payloads(context.lower_payloads.begin(), context.lower_payloads.end());
  payloads.push_back(payload);
  for (const Unit& unit : units_of(tensors)) {
    if (Status status = UnitDecoder(context, unit, payloads).decode(); !status) return status;
  }
  for (const Bytes& rest : payloads) {
    if (!rest.empty()) return damaged("a section with bytes after its last layer");
  }
  return {};
}

}  // namespace sluice::ladder
