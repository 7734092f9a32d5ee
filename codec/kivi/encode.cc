// A section's tensors to scales, zero points, codes and residual tokens.
#include <algorithm>
#include <cstring>

#include "codec/kivi/kernel.h"
#include "codec/kivi/layout.h"
#include "codec/kivi/scale.h"
#include "codec/row_convert.h"

namespace sluice::kivi {
namespace {

class TensorEncoder {
 public:
  // `payload` has the layout's size.
  TensorEncoder(const TensorView& values, const Layout& layout, Backend backend,
                std::span<std::byte> payload)
      : values_(values),
        layout_(layout),
        backend_(backend),
        quantise_(quantise_token_of(backend)),
        scales_to_(payload.data()),
        zeros_to_(scales_to_ + 2 * layout.num_scales()),
        codes_to_(reinterpret_cast<std::uint8_t*>(zeros_to_ + 2 * layout.num_scales())),
        scales_(static_cast<std::size_t>(layout.scales_per_line())),
        zeros_(scales_.size()) {}

  void run() {
    for (std::int64_t token = 0; token < layout_.coded_tokens;) {
      const std::int64_t count = std::min(layout_.tokens_per_line(), layout_.coded_tokens - token);
      read(token, count);
      put_scales(count);
      const TokenScales scales{scales_.data(), zeros_.data(),
                               layout_.is_per_channel ? 1 : layout_.group};
      for (std::int64_t i = 0; i < count; ++i, codes_to_ += layout_.code_bytes_per_token())
        quantise_(line(i), layout_.channels, scales, layout_.bits, codes_to_);
      token += count;
    }
    put_residual();
  }

 private:
  [[nodiscard]] const float* line(std::int64_t i) const {
    return lines_.data() + i * layout_.channels;
  }

  void read(std::int64_t token, std::int64_t count) {
    const auto channels = static_cast<std::size_t>(layout_.channels);
    lines_.resize(static_cast<std::size_t>(count) * channels);
    for (std::int64_t i = 0; i < count; ++i) {
      values_.read_token(token + i, {lines_.data() + i * layout_.channels, channels}, backend_);
    }
    make_codable(lines_, backend_);
  }

  void put_scales(std::int64_t count) {
    if (layout_.is_per_channel) {
      find_extents_of_channels(count);
    } else {
      find_extents_of_groups();
    }
    const auto code_max = static_cast<float>((1 << layout_.bits) - 1);
    for (std::size_t g = 0; g < scales_.size(); ++g) {
      const std::uint16_t zero = zero_for(low_[g]);
      zeros_[g] = fp16_to_fp32(zero);
      const std::uint16_t scale = scale_for(high_[g] - zeros_[g], code_max);
      scales_[g] = fp16_to_fp32(scale);
      std::memcpy(zeros_to_, &zero, sizeof zero);
      std::memcpy(scales_to_, &scale, sizeof scale);
      zeros_to_ += sizeof zero;
      scales_to_ += sizeof scale;
    }
  }

  void find_extents_of_channels(std::int64_t count) {
    low_.assign(line(0), line(1));
    high_ = low_;
    for (std::int64_t i = 1; i < count; ++i) {
      const float* values = line(i);
      for (std::size_t c = 0; c < low_.size(); ++c) {
        low_[c] = std::min(low_[c], values[c]);
        high_[c] = std::max(high_[c], values[c]);
      }
    }
  }

  void find_extents_of_groups() {
    low_.clear();
    high_.clear();
    for (std::int64_t c = 0; c < layout_.channels; c += layout_.group) {
      const float* end = line(0) + std::min(c + layout_.group, layout_.channels);
      const auto [low, high] = std::minmax_element(line(0) + c, end);
      low_.push_back(*low);
      high_.push_back(*high);
    }
  }

  void put_residual() {
    const RowConvert convert = row_convert(values_.shape.dtype, backend_);
    auto* to = reinterpret_cast<std::byte*>(codes_to_);
    for (std::int64_t i = 0; i < layout_.residual_tokens; ++i) {
      read(layout_.coded_tokens + i, 1);
      convert.from_fp32(line(0), layout_.channels, to);
      to += layout_.channels * layout_.element_bytes;
    }
  }

  TensorView values_;
  Layout layout_;
  Backend backend_;
  QuantiseToken quantise_;
  std::byte* scales_to_;
  std::byte* zeros_to_;
  std::uint8_t* codes_to_;
  std::vector<float> lines_;       // [token, channel]
  std::vector<float> low_, high_;  // of each scale's values
  std::vector<float> scales_, zeros_;
};

}  // namespace

EncodedSection encode(const SectionContext& context, int bits,
                      std::span<const SectionTensor> tensors) {
  EncodedSection section;
  for (const SectionTensor& tensor : tensors) {
    const Layout layout = layout_of(context, bits, context.kind, tensor.values.shape);
    const std::size_t before = section.payload.size();
    section.payload.resize(before + static_cast<std::size_t>(layout.bytes()));
    TensorEncoder(tensor.values, layout, context.backend,
                  std::span(section.payload).subspan(before))
        .run();
    section.side_bytes += layout.side_bytes();
  }
  return section;
}

}  // namespace sluice::kivi
