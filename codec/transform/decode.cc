// A section's bytes to elements, block by block, some tokens at a time.
#include <algorithm>
#include <cmath>

#include "codec/bytes.h"
#include "codec/damage.h"
#include "codec/row_convert.h"
#include "codec/transform/block.h"
#include "codec/transform/components.h"
#include "codec/transform/kernel.h"
#include "codec/transform/section.h"

namespace sluice::transform {
namespace {

constexpr std::int64_t kTokensAtOnce = 16;

class BlockDecoder {
 public:
  BlockDecoder(const SectionContext& context, const BlockOf<MutableTensorView>& block)
      : context_(context),
        block_(block),
        rows_(block.coded_tokens()),
        channels_(block.channels()) {}

  Status run(ByteReader& in) {
    if (block_.kept_tokens() > 0) {
      if (Status status = read_first_token(in); !status) return status;
    }
    if (rows_ == 0) return {};
    for (std::size_t i = 0; i < block_.tensors.size(); ++i) {
      scales_.push_back(in.get<float>());
      if (!std::isfinite(scales_.back()) || scales_.back() < 0)
        return damaged("a scale that is not a finite number >= 0");
    }
    const auto components = read_components(rows_, channels_, context_.backend, in);
    if (!components) return components.error();
    write_tokens(*components);
    return {};
  }

 private:
  Status read_first_token(ByteReader& in) {
    std::vector<float> channels;
    for (const MutableSectionTensor& tensor : block_.tensors) {
      const TensorShape& shape = tensor.values.shape;
      channels.resize(static_cast<std::size_t>(shape.channels()));
      const auto row =
          in.get_bytes(channels.size() * static_cast<std::size_t>(bytes_per_element(shape.dtype)));
      if (!in.ok()) return damaged("a section that ends in its first token");
      row_convert(shape.dtype, context_.backend)
          .to_fp32(row.data(), shape.channels(), channels.data());
      if (!std::all_of(channels.begin(), channels.end(), [](float x) { return std::isfinite(x); }))
        return damaged("a first token with an element that is not finite");
      tensor.values.write_token(0, channels, context_.backend);
    }
    return {};
  }

  void write_tokens(const Components& components) {
    const Rotations rotations(context_, block_, false);
    const auto basis = paired_basis(components);
    const auto symbols = paired_tokens(components);
    const std::int64_t pairs = (components.count() + 1) / 2;
    const auto synthesise = kernels_of(context_.backend).synthesise;
    std::vector<std::int32_t> sums(static_cast<std::size_t>(kTokensAtOnce * channels_));
    for (std::int64_t row = 0; row < rows_; row += kTokensAtOnce) {
      const std::int64_t count = std::min(kTokensAtOnce, rows_ - row);
      synthesise(symbols.data() + row * pairs * 2, basis.data(), count, pairs, channels_,
                 sums.data());
      for (std::int64_t i = 0; i < count; ++i)
        write_token(row + i, components.unit, sums.data() + i * channels_, rotations);
    }
  }

  void write_token(std::int64_t row, float unit, const std::int32_t* sums,
                   const Rotations& rotations) {
    for (std::size_t i = 0; i < block_.tensors.size(); ++i) {
      const MutableTensorView& to = block_.tensors[i].values;
      values_.resize(static_cast<std::size_t>(to.shape.channels()));
      const float factor = unit * scales_[i];
      for (float& value : values_) value = static_cast<float>(*sums++) * factor;
      rotations.turn(i, row, values_);
      make_codable(values_, context_.backend);
      to.write_token(row + block_.kept_tokens(), values_, context_.backend);
    }
  }

  const SectionContext& context_;
  BlockOf<MutableTensorView> block_;
  std::int64_t rows_, channels_;
  std::vector<float> scales_;  // [tensor]
  std::vector<float> values_;
};

}  // namespace

Status decode_section(const SectionContext& context, std::span<const std::byte> payload,
                      std::span<const MutableSectionTensor> tensors) {
  ByteReader in(payload);
  for (const auto& block : blocks_of(tensors)) {
    if (Status status = BlockDecoder(context, block).run(in); !status) return status;
  }
  std::int64_t elements = 0;
  for (const MutableSectionTensor& tensor : tensors) elements += tensor.values.shape.elements();
  const std::size_t read = payload.size() - in.left();
  const auto least =
      static_cast<std::size_t>((elements + kMaxElementsPerByte - 1) / kMaxElementsPerByte);
  if (payload.size() != std::max(read, least))
    return damaged("a section with another length than its blocks");
  const auto padding = in.get_bytes(in.left());
  const bool is_zero =
      std::all_of(padding.begin(), padding.end(), [](std::byte b) { return b == std::byte{0}; });
  return is_zero ? Status{} : damaged("a section whose padding is not zero");
}

}  // namespace sluice::transform
