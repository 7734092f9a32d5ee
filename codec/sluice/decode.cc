#include "codec/bytes.h"
#include "codec/damage.h"
#include "codec/entropy/binding.h"
#include "codec/row_convert.h"
#include "codec/sluice/basis.h"
#include "codec/sluice/head_writer.h"
#include "codec/sluice/payload.h"
#include "codec/sluice/rungs.h"
#include "codec/sluice/unit_head.h"

namespace sluice::ladder {
namespace {

using Unit = UnitOf<MutableTensorView>;
using Bytes = std::span<const std::byte>;

// Rows that are synthesised together: they share the basis, and lie in a cache until they are
// finished.
constexpr std::int64_t kRowsAtOnce = 64;

// Whether no tile of the plane begins within 32 channels that a head takes as a piece. No encoder
// writes such tiles, but decoders read them.
bool has_whole_groups(Bytes plane, std::int64_t channels) {
  ByteReader in(plane);
  (void)in.get<std::uint16_t>();  // model, flags
  const auto tile_columns = in.get<std::uint16_t>();
  return tile_columns % entropy::kLanes == 0 || tile_columns >= channels;
}

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
        channels_(unit.channels()),
        work_(work) {}

  Status decode() {
    auto head = read_head(context_, unit_, payloads_[0]);
    if (!head) return head.error();
    head_ = *std::move(head);
    for (std::size_t i = 0; i < head_.raw_tokens.size(); ++i)
      write_raw_token(head_.raw_tokens[i], unit_.tensors[i].values);
    return decode_rows();
  }

 private:
  void write_raw_token(Bytes row, const MutableTensorView& values) {
    const TensorShape& shape = values.shape;
    std::vector<float> channels(static_cast<std::size_t>(shape.channels()));
    row_convert(shape.dtype, context_.backend)
        .to_fp32(row.data(), shape.channels(), channels.data());
    make_codable(channels, context_.backend);
    values.write_token(0, channels, context_.backend);
  }

  // Symbols, and all that becomes of them.
  Status decode_rows() {
    const auto shifts = row_shifts(head_.classes, head_.has_classes);
    const auto options = plane_options(unit_.tensors[0].values.shape.dim, shifts, context_.backend);
    const float step = step_of(planes_.rung(static_cast<std::int32_t>(payloads_.size()) - 1));
    const UnitBasis basis = head_.basis();
    HeadWriter heads(context_, unit_, head_, basis, step, work_);
    if (head_.rows() > 0) {
      if (Status status = check_symbol_model(payloads_[0]); !status) return status;
    }
    const bool is_of_symbols_alone = planes_.base_digits == 0 && payloads_.size() == 1;
    if (basis.blocks.empty() && is_of_symbols_alone && heads.takes_pieces() &&
        has_whole_groups(payloads_[0], channels_)) {
      HeadSink sink(heads, work_);
      return taken(payloads_[0],
                   entropy::decode_plane(payloads_[0], head_.rows(), channels_, options, sink));
    }
    if (Status status = read_symbols(options); !status) return status;
    if (basis.blocks.empty()) {
      heads.write_rows(work_.symbols.data(), head_.rows(), 0);
    } else {
      synthesise_rows(basis, heads);
    }
    return {};
  }

  // The plane's bytes off the front.
  static Status taken(Bytes& bytes, const Result<std::size_t>& count) {
    if (!count) return count.error();
    bytes = bytes.subspan(*count);
    return {};
  }

  Status read_symbols(const entropy::PlaneOptions& options) {
    auto& symbols = work_.symbols;
    symbols.resize(static_cast<std::size_t>(head_.rows() * channels_));
    const auto read_digits = [&](Bytes& bytes) {
      return taken(bytes, entropy::decode_digits(bytes, head_.rows(), channels_, options, symbols));
    };
    Status status = taken(payloads_[0], entropy::decode_plane(payloads_[0], head_.rows(), channels_,
                                                              options, symbols));
    for (int digit = 0; status && digit < planes_.base_digits; ++digit)
      status = read_digits(payloads_[0]);
    for (std::size_t refinement = 1; status && refinement < payloads_.size(); ++refinement)
      status = read_digits(payloads_[refinement]);
    return status;
  }

  void synthesise_rows(const UnitBasis& basis, HeadWriter& heads) {
    work_.sums.resize(static_cast<std::size_t>(kRowsAtOnce * channels_));
    for (std::int64_t first = 0; first < head_.rows(); first += kRowsAtOnce) {
      const std::int64_t count = std::min(kRowsAtOnce, head_.rows() - first);
      synthesise(basis, work_.symbols.data() + first * channels_, count, kernels_,
                 work_.sums.data());
      heads.write_rows(work_.sums.data(), count, first);
    }
  }

  const SectionContext& context_;
  const Unit& unit_;
  std::span<Bytes> payloads_;
  LevelPlanes planes_;
  const Kernels& kernels_;
  std::int64_t channels_;
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
