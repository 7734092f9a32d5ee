// A section's tensors to fp16 entries, scales and codes.
#include "base/assert.h"
#include "codec/bytes.h"
#include "codec/float16.h"
#include "codec/mixed_sparse/kernel.h"
#include "codec/mixed_sparse/section.h"
#include "codec/mixed_sparse/select.h"
#include "codec/row_convert.h"
#include "codec/uniform/scale.h"

namespace sluice::mixed_sparse {
namespace {

constexpr float kCodeMax = 7.0F;

class TensorEncoder {
 public:
  TensorEncoder(const SectionTensor& tensor, const Level& level, Backend backend, ByteWriter& out)
      : channels_(static_cast<std::size_t>(tensor.values.shape.channels())),
        tokens_(static_cast<std::size_t>(tensor.values.shape.tokens)),
        values_(channels_ * tokens_),
        out_(out) {
    for (std::size_t token = 0; token < tokens_; ++token) {
      tensor.values.read_token(static_cast<std::int64_t>(token),
                               std::span(values_).subspan(token * channels_, channels_), backend);
    }
    make_codable(values_, backend);
    entries_ = select_entries(values_, tensor.values.shape.channels(), tensor.importance,
                              level.kept_percent, level.zero_percent);
  }

  // Returns the bytes that are neither fp16 entries nor codes.
  std::int64_t run() {
    const std::size_t before = out_.bytes().size();
    put_places();
    std::size_t side = out_.bytes().size() - before;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (entries_[i] == Entry::kKept) out_.put(fp32_to_fp16(values_[i]));
    }
    codes_.resize(values_.size());
    for (std::size_t token = 0; token < tokens_; ++token) put_scales(token * channels_);
    side += 2 * tokens_ * static_cast<std::size_t>(groups_of(static_cast<std::int64_t>(channels_)));
    return static_cast<std::int64_t>(side + put_codes());
  }

 private:
  void put_places() {
    std::uint32_t count = 0;
    for (const Entry entry : entries_) count += entry == Entry::kKept ? 1 : 0;
    out_.put(count);
    if (count == 0) return;
    std::uint8_t gap = 0;
    for (const Entry entry : entries_) {
      if (entry == Entry::kKept) {
        out_.put(gap);
        gap = 0;
        if (--count == 0) return;
      } else if (++gap == kLongGap) {
        out_.put(kLongGap);
        gap = 0;
      }
    }
  }

  // Of the token whose entries start at `first`; its codes follow from them.
  void put_scales(std::size_t first) {
    constexpr auto kGroup = static_cast<std::size_t>(kGroupChannels);
    for (std::size_t c = 0; c < channels_; c += kGroup) {
      const std::size_t begin = first + c;
      const std::size_t end = first + std::min(c + kGroup, channels_);
      float magnitude = 0.0F;
      for (std::size_t i = begin; i < end; ++i) {
        if (entries_[i] == Entry::kCode) magnitude = std::max(magnitude, std::fabs(values_[i]));
      }
      const std::uint16_t scale = uniform::scale_for(magnitude, kCodeMax);
      out_.put(scale);
      for (std::size_t i = begin; i < end; ++i) {
        codes_[i] =
            entries_[i] != Entry::kCode
                ? std::int8_t{0}
                : static_cast<std::int8_t>(uniform::code_of(values_[i], fp16_to_fp32(scale)));
      }
    }
  }

  // Returns how many bytes are flags and maps.
  std::size_t put_codes() {
    const std::size_t flags_at = out_.bytes().size();
    const std::size_t flag_bytes = (tokens_ + 7) / 8;
    std::vector<std::uint8_t> flags(flag_bytes);
    out_.put_zeros(flag_bytes);
    std::size_t side = flag_bytes;
    std::vector<std::byte> token_bytes;
    for (std::size_t token = 0; token < tokens_; ++token) {
      const auto codes = std::span(codes_).subspan(token * channels_, channels_);
      const std::size_t sparse = sparse_bytes(channels_, count_codes(codes));
      const bool is_sparse = sparse < dense_bytes(channels_);
      token_bytes.assign(is_sparse ? sparse : dense_bytes(channels_), std::byte{0});
      if (is_sparse) {
        flags[token / 8] = static_cast<std::uint8_t>(flags[token / 8] | 1U << token % 8);
        side += (channels_ + 7) / 8;
        put_sparse(codes, token_bytes.data());
      } else {
        put_dense(codes, token_bytes.data());
      }
      out_.put_bytes(token_bytes);
    }
    for (std::size_t i = 0; i < flag_bytes; ++i) out_.put_over(flags_at + i, flags[i]);
    return side;
  }

  std::size_t channels_, tokens_;
  std::vector<float> values_;  // [token, channel]
  std::vector<Entry> entries_;
  std::vector<std::int8_t> codes_;
  ByteWriter& out_;
};

}  // namespace

Result<EncodedSection> encode_section(const SectionContext& context,
                                      std::span<const SectionTensor> tensors) {
  ByteWriter out;
  std::int64_t side_bytes = 0;
  for (const SectionTensor& tensor : tensors) {
    if (tensor.values.shape.elements() > std::int64_t{UINT32_MAX}) {
      return error_in("", "a tensor of more than 2^32 - 1 elements",
                      "cut the context into chunks (encode fewer tokens at once)");
    }
    side_bytes += TensorEncoder(tensor, levels()[context.level], context.backend, out).run();
  }
  return EncodedSection{.payload = std::move(out).take(), .side_bytes = side_bytes};
}

}  // namespace sluice::mixed_sparse
