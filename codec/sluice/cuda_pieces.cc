#include "codec/sluice/cuda_pieces.h"

#include "codec/damage.h"
#include "codec/sluice/payload.h"

namespace sluice::ladder {
namespace {

using Bytes = std::span<const std::byte>;

class PieceReader {
 public:
  PieceReader(const SectionContext& context, Bytes payload) : context_(context) {
    for (const Bytes& lower : context.lower_payloads) add_payload(lower);
    add_payload(payload);
    const LevelPlanes planes = planes_of(context.level);
    base_digits_ = static_cast<unsigned>(planes.base_digits);
    const auto refinements = static_cast<unsigned>(payloads_.size() - 1);
    pieces_.num_stages = 1 + base_digits_ + refinements;
    pieces_.step = step_of(planes.rung(static_cast<std::int32_t>(refinements)));
  }

  SectionPieces read(std::span<const DeviceSectionTensor> tensors) {
    pieces_.status = read_units(tensors);
    return std::move(pieces_);
  }

 private:
  struct Payload {
    Bytes left;
    std::size_t begin = 0, end = 0;  // on the device, where payloads lie one behind the other
    [[nodiscard]] std::size_t at() const { return end - left.size(); }
  };

  void add_payload(Bytes bytes) {
    const std::size_t begin = pieces_.payload_bytes;
    pieces_.payload_bytes += bytes.size();
    payloads_.push_back({bytes, begin, pieces_.payload_bytes});
  }

  Status read_units(std::span<const DeviceSectionTensor> tensors) {
    for (const DeviceUnit& unit : units_of(tensors)) {
      if (Status status = read_unit(unit); !status) return status;
    }
    for (const Payload& payload : payloads_) {
      if (!payload.left.empty()) return damaged("a section with bytes after its last layer");
    }
    return {};
  }

  Status read_unit(const DeviceUnit& unit) {
    Payload& base = payloads_[0];
    const std::byte* const begin = base.left.data();
    const std::size_t at = base.at();
    auto head = read_head(context_, unit, base.left);
    if (!head) return head.error();
    pieces_.units.push_back({.unit = unit, .head = *std::move(head), .shifts = {}, .raw_at = {}});
    UnitPieces& added = pieces_.units.back();
    for (const Bytes& row : added.head.raw_tokens)
      added.raw_at.push_back(static_cast<std::int64_t>(at) + (row.data() - begin));
    added.shifts = row_shifts(added.head.classes, added.head.has_classes);
    if (added.head.rows() == 0) return {};
    if (Status status = check_symbol_model(base.left); !status) return status;
    if (Status status = list_plane(added, base, 0, entropy::PlaneModel::kPeaked); !status)
      return status;
    for (unsigned stage = 1; stage < pieces_.num_stages; ++stage) {
      Payload& from = stage <= base_digits_ ? base : payloads_[stage - base_digits_];
      if (Status status = list_plane(added, from, stage, entropy::PlaneModel::kDigits); !status)
        return status;
    }
    return {};
  }

  Status list_plane(const UnitPieces& unit, Payload& payload, unsigned stage,
                    entropy::PlaneModel model) {
    entropy::SymbolTileLister& tiles = pieces_.tiles;
    tiles.begin_plane(static_cast<std::uint32_t>(pieces_.units.size() - 1), payload.at(),
                      static_cast<std::uint16_t>(stage), unit.shifts);
    const std::int64_t rows = unit.head.rows(), channels = unit.unit.channels();
    const auto bytes = model == entropy::PlaneModel::kDigits
                           ? entropy::walk_digit_plane(payload.left, rows, channels, tiles)
                           : entropy::walk_plane(payload.left, rows, channels, false, tiles);
    if (!bytes) return bytes.error();
    payload.left = payload.left.subspan(*bytes);
    return {};
  }

  const SectionContext& context_;
  std::vector<Payload> payloads_;  // from the base up
  unsigned base_digits_ = 0;
  SectionPieces pieces_;
};

}  // namespace

SectionPieces read_pieces(const SectionContext& context, Bytes payload,
                          std::span<const DeviceSectionTensor> tensors) {
  return PieceReader(context, payload).read(tensors);
}

}  // namespace sluice::ladder
