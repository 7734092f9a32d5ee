// A section's tensors, block by block, to kept tokens, scales and components.
#include <algorithm>
#include <cmath>

#include "codec/bytes.h"
#include "codec/row_convert.h"
#include "codec/transform/block.h"
#include "codec/transform/components.h"
#include "codec/transform/section.h"

namespace sluice::transform {
namespace {

class BlockEncoder {
 public:
  BlockEncoder(const SectionContext& context, const BlockOf<TensorView>& block, ByteWriter& out)
      : context_(context),
        block_(block),
        rows_(block.coded_tokens()),
        channels_(block.channels()),
        out_(out) {}

  // Returns the bytes that are not symbols.
  std::int64_t run() {
    const std::size_t before = out_.bytes().size();
    if (block_.kept_tokens() > 0) put_first_token();
    if (rows_ == 0) return static_cast<std::int64_t>(out_.bytes().size() - before);
    read_values();
    normalise();
    const std::size_t side = out_.bytes().size() - before;
    const double budget = levels()[context_.level].bits_per_element * static_cast<double>(rows_) *
                          static_cast<double>(channels_);
    const auto wanted =
        std::min<double>(kMaxComponents, 1 + budget / static_cast<double>(rows_ + channels_));
    const Principal principal = principal_components(
        values_, rows_, channels_, static_cast<std::int64_t>(wanted), kernels_of(context_.backend));
    const Components components = quantise(principal, rows_, channels_, budget);
    return static_cast<std::int64_t>(side) + put_components(components, context_.backend, out_);
  }

 private:
  void put_first_token() {
    std::vector<float> channels;
    std::vector<std::byte> row;
    for (const SectionTensor& tensor : block_.tensors) {
      const TensorShape& shape = tensor.values.shape;
      channels.resize(static_cast<std::size_t>(shape.channels()));
      row.resize(channels.size() * static_cast<std::size_t>(bytes_per_element(shape.dtype)));
      tensor.values.read_token(0, channels, context_.backend);
      make_codable(channels, context_.backend);
      row_convert(shape.dtype, context_.backend)
          .from_fp32(channels.data(), shape.channels(), row.data());
      out_.put_bytes(row);
    }
  }

  // [row, channel], keys as before their rotation.
  void read_values() {
    values_.resize(static_cast<std::size_t>(rows_ * channels_));
    const Rotations rotations(context_, block_, true);
    std::size_t first = 0;
    for (std::size_t i = 0; i < block_.tensors.size(); ++i) {
      const TensorView& from = block_.tensors[i].values;
      const auto count = static_cast<std::size_t>(from.shape.channels());
      for (std::int64_t r = 0; r < rows_; ++r) {
        const auto part =
            std::span(values_).subspan(static_cast<std::size_t>(r * channels_) + first, count);
        from.read_token(r + block_.kept_tokens(), part, context_.backend);
        make_codable(part, context_.backend);
        rotations.turn(i, r, part);
        make_codable(part, context_.backend);  // attention factors may be anything
      }
      first += count;
    }
  }

  // Every tensor to a root mean square of 1, so that none counts more than another; the scales go
  // to the payload.
  void normalise() {
    std::int64_t first = 0;
    for (const SectionTensor& tensor : block_.tensors) {
      const std::int64_t count = tensor.values.shape.channels();
      double squares = 0;
      for_each(first, count,
               [&](float& x) { squares += static_cast<double>(x) * static_cast<double>(x); });
      const auto scale =
          static_cast<float>(std::sqrt(squares / static_cast<double>(rows_ * count)));
      out_.put(scale);
      for_each(first, count, [&](float& x) { x = scale > 0 ? x / scale : 0.0F; });
      first += count;
    }
  }

  template <typename Function>
  void for_each(std::int64_t first, std::int64_t count, Function function) {
    for (std::int64_t r = 0; r < rows_; ++r) {
      float* const row = values_.data() + r * channels_ + first;
      for (std::int64_t c = 0; c < count; ++c) function(row[c]);
    }
  }

  const SectionContext& context_;
  BlockOf<TensorView> block_;
  std::int64_t rows_, channels_;
  ByteWriter& out_;
  std::vector<float> values_;
};

}  // namespace

Result<EncodedSection> encode_section(const SectionContext& context,
                                      std::span<const SectionTensor> tensors) {
  ByteWriter out;
  std::int64_t side_bytes = 0, elements = 0;
  for (const auto& block : blocks_of(tensors))
    side_bytes += BlockEncoder(context, block, out).run();
  for (const SectionTensor& tensor : tensors) elements += tensor.values.shape.elements();
  const auto least =
      static_cast<std::size_t>((elements + kMaxElementsPerByte - 1) / kMaxElementsPerByte);
  if (out.bytes().size() < least) {
    side_bytes += static_cast<std::int64_t>(least - out.bytes().size());
    out.put_zeros(least - out.bytes().size());
  }
  return EncodedSection{.payload = std::move(out).take(), .side_bytes = side_bytes};
}

}  // namespace sluice::transform
