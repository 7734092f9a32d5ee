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

TokenTarget target_of(const MutableTensorView& to, std::int64_t token) {
  const std::int64_t width = bytes_per_element(to.shape.dtype);
  return {.dtype = to.shape.dtype,
          .heads = to.shape.heads,
          .dim = to.shape.dim,
          .elements = to.data + token * to.strides.token * width,
          .head_bytes = to.strides.head * width};
}

// A token's channels as they are before they are rounded to the dtype.
TokenTarget target_of(std::span<float> channels, const TensorShape& shape) {
  return {.dtype = Dtype::kFp32,
          .heads = shape.heads,
          .dim = shape.dim,
          .elements = std::as_writable_bytes(channels).data(),
          .head_bytes = shape.dim * bytes_per_element(Dtype::kFp32)};
}

Turn turn_of(const RotationTable& table, std::size_t row) {
  const std::size_t at = row * static_cast<std::size_t>(table.pairs);
  return {.cosines = table.cosines.data() + at,
          .sines = table.sines.data() + at,
          .pairs = table.pairs,
          .pairing = table.pairing};
}

// Rows that are synthesised together: they share the basis, and lie in a cache until they are
// finished.
constexpr std::size_t kRowsAtOnce = 64;

// What the units of a section share: memory that the first of them fills, and tables.
struct Workspace {
  std::vector<std::int16_t> symbols;  // [row, channel]
  std::vector<std::int32_t> sums;     // of kRowsAtOnce rows
  std::vector<float> channels;        // of a token whose dims do not lie side by side
  RotationTables rotations{false};
};

// Payloads of a section, from the base up, each read from its front.
class UnitDecoder {
 public:
  UnitDecoder(const SectionContext& context, const Unit& unit, std::span<Bytes> payloads,
              Workspace& work)
      : context_(context),
        unit_(unit),
        payloads_(payloads),
        planes_(planes_of(context.level)),
        kernels_(kernels_of(context.backend)),
        channels_(static_cast<std::size_t>(unit.channels())),
        work_(work) {}

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
    work_.symbols.resize(num_rows() * channels_);
    if (num_rows() > 0) {
      if (Status status = check_symbol_model(payloads_[0]); !status) return status;
    }
    const auto bytes =
        entropy::decode_plane(payloads_[0], head_.rows(), unit_.channels(), options, work_.symbols);
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
        entropy::decode_digits(bytes, head_.rows(), unit_.channels(), options, work_.symbols);
    if (!count) return count.error();
    bytes = bytes.subspan(*count);
    return {};
  }

  void write_tokens() {
    const float step = step_of(planes_.rung(static_cast<std::int32_t>(payloads_.size()) - 1));
    const UnitBasis basis = head_.basis();
    const std::vector<float> offsets = channel_offsets(basis, head_.offsets, kernels_);
    const auto positions = positions_of(unit_, head_.first_row());
    std::vector<std::shared_ptr<const RotationTable>> rotations;
    for (const auto& tensor : unit_.tensors) {
      const bool turns = is_rotated(context_, tensor.kind, tensor.rope, tensor.values.shape.dim);
      rotations.push_back(turns ? work_.rotations.of(*tensor.rope, positions, context_.backend)
                                : nullptr);
    }
    const auto scale_of = [&](std::size_t row) {
      return RowScale{step * class_factor(head_.classes[row]), basis.scales.data(), offsets.data()};
    };
    if (basis.blocks.empty()) {
      for (std::size_t row = 0; row < num_rows(); ++row) {
        write_token(row, work_.symbols.data() + row * channels_, scale_of(row), rotations,
                    kernels_.finish_symbols);
      }
      return;
    }
    work_.sums.resize(kRowsAtOnce * channels_);
    for (std::size_t first = 0; first < num_rows(); first += kRowsAtOnce) {
      const std::size_t count = std::min(kRowsAtOnce, num_rows() - first);
      synthesise(basis, work_.symbols.data() + first * channels_, static_cast<std::int64_t>(count),
                 kernels_, work_.sums.data());
      for (std::size_t i = 0; i < count; ++i) {
        write_token(first + i, work_.sums.data() + i * channels_, scale_of(first + i), rotations,
                    kernels_.finish_sums);
      }
    }
  }

  // Number: the token's channels before they are scaled.
  template <typename Number>
  void write_token(std::size_t row, const Number* numbers, const RowScale& scale,
                   std::span<const std::shared_ptr<const RotationTable>> rotations,
                   void (*finish)(const Number*, const RowScale&, const Turn&,
                                  const TokenTarget&)) {
    const std::int64_t token = static_cast<std::int64_t>(row) + head_.first_row();
    std::int64_t first = 0;
    for (std::size_t i = 0; i < unit_.tensors.size(); ++i) {
      const MutableTensorView& to = unit_.tensors[i].values;
      const Turn turn = rotations[i] ? turn_of(*rotations[i], row) : Turn{};
      const RowScale own{scale.step, scale.scales + first, scale.offsets + first};
      if (to.strides.dim == 1) {
        finish(numbers + first, own, turn, target_of(to, token));
      } else {
        work_.channels.resize(static_cast<std::size_t>(to.shape.channels()));
        finish(numbers + first, own, turn, target_of(work_.channels, to.shape));
        to.write_token(token, work_.channels, context_.backend);
      }
      first += to.shape.channels();
    }
  }

  const SectionContext& context_;
  const Unit& unit_;
  std::span<Bytes> payloads_;
  LevelPlanes planes_;
  const Kernels& kernels_;
  std::size_t channels_;
  UnitHead head_;
  Workspace& work_;
};

}  // namespace

Status decode_section(const SectionContext& context, Bytes payload,
                      std::span<const MutableSectionTensor> tensors) {
  std::vector<Bytes> payloads(context.lower_payloads.begin(), context.lower_payloads.end());
  payloads.push_back(payload);
  Workspace work;
  for (const Unit& unit : units_of(tensors)) {
    if (Status status = UnitDecoder(context, unit, payloads, work).decode(); !status) return status;
  }
  for (const Bytes& rest : payloads) {
    if (!rest.empty()) return damaged("a section with bytes after its last layer");
  }
  return {};
}

}  // namespace sluice::ladder
