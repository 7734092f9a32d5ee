#include "codec/sluice/unit_head.h"

#include "codec/bytes.h"
#include "codec/damage.h"
#include "codec/entropy/binding.h"
#include "codec/float16.h"
#include "codec/sluice/payload.h"
#include "codec/sluice/rungs.h"

namespace sluice::ladder {
namespace {

using Bytes = std::span<const std::byte>;

class HeadReader {
 public:
  HeadReader(std::span<const TensorShape> shapes, Backend backend, Bytes& base)
      : shapes_(shapes), backend_(backend), base_(base) {}

  Result<UnitHead> read(const LayerProfile* layer) {
    head_.layer = layer;
    for (const auto step :
         {&HeadReader::read_front, &HeadReader::read_classes, &HeadReader::read_offsets}) {
      if (Status status = (this->*step)(); !status) return status.error();
    }
    return std::move(head_);
  }

 private:
  // Flags, scales and the raw first token.
  Status read_front() {
    ByteReader in(base_);
    flags_ = in.get<std::uint8_t>();
    if (!in.ok() || (flags_ & ~kAllFlags) != 0) return damaged("a layer with unknown flags");
    if (head_.layer == nullptr) {
      if (Status status = read_scales(in); !status) return status;
    }
    if ((flags_ & kHasRawToken) != 0) {
      for (const TensorShape& shape : shapes_) {
        const std::int64_t bytes = shape.channels() * bytes_per_element(shape.dtype);
        head_.raw_tokens.push_back(in.get_bytes(static_cast<std::size_t>(bytes)));
        if (!in.ok()) return damaged("a section that ends in a first token");
      }
    }
    base_ = base_.subspan(base_.size() - in.left());
    return {};
  }

  Status read_scales(ByteReader& in) {
    for (const TensorShape& shape : shapes_) {
      const float scale = bf16_to_fp32(in.get<std::uint16_t>());
      if (!in.ok() || !is_valid_scale(scale)) return damaged("a layer with a scale that is none");
      head_.scales.push_back({shape.channels(), scale});
    }
    return {};
  }

  // A plane of one column.
  Status read_column(std::vector<std::int16_t>& symbols) {
    const auto bytes =
        entropy::decode_plane(base_, std::ssize(symbols), 1, {.backend = backend_}, symbols);
    if (!bytes) return bytes.error();
    base_ = base_.subspan(*bytes);
    return {};
  }

  Status read_classes() {
    head_.has_classes = (flags_ & kHasClasses) != 0;
    const std::int64_t rows = shapes_[0].tokens - head_.first_row();
    head_.classes.assign(static_cast<std::size_t>(rows), 0);
    if (!head_.has_classes) return {};
    std::vector<std::int16_t> symbols(head_.classes.size());
    if (Status status = read_column(symbols); !status) return status;
    for (std::size_t row = 0; row < symbols.size(); ++row) {
      if (symbols[row] < kClassLow || symbols[row] > kClassHigh)
        return damaged("a token class out of range");
      head_.classes[row] = static_cast<std::int8_t>(symbols[row]);
    }
    return {};
  }

  Status read_offsets() {
    if ((flags_ & kHasOffsets) == 0) return {};
    std::int64_t channels = 0;
    for (const TensorShape& shape : shapes_) channels += shape.channels();
    head_.offsets.resize(static_cast<std::size_t>(channels));
    return read_column(head_.offsets);
  }

  std::span<const TensorShape> shapes_;
  Backend backend_;
  Bytes& base_;
  std::uint8_t flags_ = 0;
  UnitHead head_;
};

}  // namespace

UnitBasis UnitHead::basis() const {
  return layer != nullptr ? basis_of(*layer) : basis_of(scales);
}

Result<UnitHead> read_head(std::span<const TensorShape> shapes, const LayerProfile* layer,
                           Backend backend, Bytes& base) {
  return HeadReader(shapes, backend, base).read(layer);
}

Status check_symbol_model(Bytes base) {
  constexpr auto kPeaked = static_cast<std::byte>(entropy::PlaneModel::kPeaked);
  if (base.empty() || base[0] == kPeaked) return {};
  return damaged("a layer whose symbols are not of the peaked family");
}

}  // namespace sluice::ladder
