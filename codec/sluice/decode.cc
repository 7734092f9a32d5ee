#include "codec/damage.h"
#include "codec/entropy/binding.h"
#include "codec/row_convert.h"
#include "codec/sluice/basis.h"
#include "codec/sluice/payload.h"
#include "codec/sluice/rungs.h"
#include "codec/sluice/unit_head.h"

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
    auto head = read_head(context_, unit_, payloads_[0]);
    if (!head) return head.error();
    head_ = *std::move(head);
    for (std::size_t i = 0; i < head_.raw_tokens.size(); ++i)
      write_raw_token(head_.raw_tokens[i], unit_.tensors[i].values);
    if (Status status = read_symbols(); !status) return status;
    write_tokens();
    return {};
  }

 private:
  [[nodiscard]] std::size_t num_rows() const { return head_.classes.size(); }

  void write_raw_token(Bytes row, const MutableTensorView& values) {
    const TensorShape& shape = values.shape;
    std::vector<float> channels(static_cast<std::size_t>(shape.channels()));
    row_convert(shape.dtype, context_.backend)
        .to_fp32(row.data(), shape.channels(), channels.data());
    make_codable(channels, context_.backend);
    values.write_token(0, channels, context_.backend);
  }

  Status read_symbols() {
    const auto shifts = row_shifts(head_.classes, head_.has_classes);
    const auto options = plane_options(unit_.tensors[0].values.shape.dim, shifts, context_.backend);
    symbols_.resize(num_rows() * channels_);
    if (num_rows() > 0) {
      if (Status status = check_symbol_model(payloads_[0]); !status) return status;
    }
    const auto bytes =
        entropy::decode_plane(payloads_[0], head_.rows(), unit_.channels(), options, symbols_);
    if (!bytes) return bytes.error();
    payloads_[0] = payloads_[0].subspan(*bytes);
    for (int digit = 0; digit < planes_.base_digits; ++digit) {
      if (Status status = read_digits(payloads_[0], options); !status) return status;
    }
    for (std::size_t refinement = 1; refinement < payloads_.size(); ++refinement) {
      if (Status status = read_digits(payloads_[refinement], options); !status) return status;
    }
    return {};
  }

  Status read_digits(Bytes& bytes, const entropy::PlaneOptions& options) {
    const auto count =
        entropy::decode_digits(bytes, head_.rows(), unit_.channels(), options, symbols_);
    if (!count) return count.error();
    bytes = bytes.subspan(*count);
    return {};
  }

  void write_tokens() {
    const int rung = planes_.rung(static_cast<std::int32_t>(payloads_.size()) - 1);
    const float step = step_of(rung);
    const UnitBasis basis = head_.basis();
    const std::vector<float> offsets = channel_offsets(basis, head_.offsets, kernels_);
    const auto positions = positions_of(unit_, head_.first_row());
    std::vector<RotationTable> rotations;
    for (const auto& tensor : unit_.tensors) {
      const bool turns = is_rotated(context_, tensor.kind, tensor.rope, tensor.values.shape.dim);
      rotations.push_back(turns ? rotation_table(*tensor.rope, positions, false) : RotationTable{});
    }
    std::vector<float> values(channels_);
    std::vector<std::int32_t> sums(channels_);
    for (std::size_t row = 0; row < num_rows(); ++row) {
      synthesise_row(basis, std::span(symbols_).subspan(row * channels_, channels_),
                     step * class_factor(head_.classes[row]), offsets, kernels_, sums, values);
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
      to.write_token(static_cast<std::int64_t>(row) + head_.first_row(), part, context_.backend);
      first += count;
    }
  }

  const SectionContext& context_;
  const Unit& unit_;
  std::span<Bytes> payloads_;
  LevelPlanes planes_;
  const Kernels& kernels_;
  std::size_t channels_;
  UnitHead head_;
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
