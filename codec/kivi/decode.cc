// A section's bytes to elements, straight into rows where they lie side by side.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "codec/bytes.h"
#include "codec/damage.h"
#include "codec/kivi/kernel.h"
#include "codec/kivi/layout.h"
#include "codec/kivi/scale.h"
#include "codec/row_convert.h"
#include "codec/streaming.h"

namespace sluice::kivi {
namespace {

constexpr std::size_t kReadableScales = 16;

// How a section is written.
struct Target {
  Backend backend;
  bool is_streamed;
};

// fp16 numbers that stand in front of the codes, widened.
template <typename IsValid>
Result<std::vector<float>> read_fp16(ByteReader& in, std::int64_t count, Backend backend,
                                     const char* what, IsValid is_valid) {
  const auto bytes = in.get_bytes(static_cast<std::size_t>(count) * sizeof(std::uint16_t));
  std::vector<float> wide(static_cast<std::size_t>(count) + kReadableScales);
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint16_t fp16;
    std::memcpy(&fp16, bytes.data() + 2 * i, sizeof fp16);
    if (!is_valid(fp16)) return damaged(fmt::format("{} {:#06x} is none", what, fp16));
  }
  row_convert(Dtype::kFp16, backend).to_fp32(bytes.data(), count, wide.data());
  return wide;
}

// Rows as kernels see them; head 0's first token first.
uniform::Rows rows_of(const MutableTensorView& out, bool is_streamed) {
  const std::int64_t width = bytes_per_element(out.shape.dtype);
  return {.data = out.data,
          .dtype = out.shape.dtype,
          .heads = out.shape.heads,
          .tokens = out.shape.tokens,
          .dim = out.shape.dim,
          .head_bytes = out.strides.head * width,
          .token_bytes = out.strides.token * width,
          .streams = is_streamed && fills_whole_lines(out)};
}

class TensorDecoder {
 public:
  TensorDecoder(const MutableTensorView& out, const Layout& layout, const Target& target)
      : out_(out),
        layout_(layout),
        target_(target),
        channels_(static_cast<std::size_t>(layout.channels)) {}

  // `payload` has the layout's size.
  Status run(std::span<const std::byte> payload) {
    ByteReader in(payload);
    const auto scales =
        read_fp16(in, layout_.num_scales(), target_.backend, "a scale", uniform::is_valid_scale);
    if (!scales) return scales.error();
    const auto zeros =
        read_fp16(in, layout_.num_scales(), target_.backend, "a zero point", is_valid_zero);
    if (!zeros) return zeros.error();
    const auto codes = in.get_bytes(
        static_cast<std::size_t>(layout_.coded_tokens * layout_.code_bytes_per_token()));
    if (!has_clean_padding(codes)) return damaged("padding bits are not zero");
    TokenRange range{
        .codes = reinterpret_cast<const std::uint8_t*>(codes.data()),
        .scales = {scales->data(), zeros->data(), layout_.is_per_channel ? 1 : layout_.group},
        .code_bytes = layout_.code_bytes_per_token(),
        .scale_step = layout_.is_per_channel ? 0 : layout_.scales_per_line(),
        .first = 0,
        .count = layout_.is_per_channel ? 0 : layout_.coded_tokens,
        .bits = layout_.bits};
    if (layout_.is_per_channel) {
      decode_groups(range);
    } else {
      decode_range(range);
    }
    return decode_residual(in);
  }

 private:
  // Of keys: tokens that share their scales.
  void decode_groups(TokenRange range) {
    for (; range.first < layout_.coded_tokens; range.first += range.count) {
      range.count = std::min(layout_.group, layout_.coded_tokens - range.first);
      decode_range(range);
      range.codes += range.count * range.code_bytes;
      range.scales.scales += layout_.scales_per_line();
      range.scales.zeros += layout_.scales_per_line();
    }
  }

  void decode_range(TokenRange range) {
#if SLUICE_AVX2
    constexpr std::int64_t kWholeBytes = 8;  // channels
    if (target_.backend == Backend::kAvx2 && out_.strides.dim == 1 &&
        out_.shape.dim % kWholeBytes == 0) {
      return dequantise_rows_avx2(range, rows_of(out_, target_.is_streamed));
    }
#endif
    for (std::int64_t i = 0; i < range.count; ++i) {
      dequantise_token(range.codes, layout_.channels, range.scales, range.bits, channels_.data());
      out_.write_token(range.first + i, channels_, target_.backend);
      range.codes += range.code_bytes;
      range.scales.scales += range.scale_step;
      range.scales.zeros += range.scale_step;
    }
  }

  [[nodiscard]] bool has_clean_padding(std::span<const std::byte> codes) const {
    const int used = static_cast<int>(layout_.channels * layout_.bits % 8);
    if (used == 0) return true;
    const auto step = static_cast<std::size_t>(layout_.code_bytes_per_token());
    for (std::size_t last = step - 1; last < codes.size(); last += step) {
      if (std::to_integer<int>(codes[last]) >> used != 0) return false;
    }
    return true;
  }

  Status decode_residual(ByteReader& in) {
    const RowConvert convert = row_convert(out_.shape.dtype, target_.backend);
    for (std::int64_t i = 0; i < layout_.residual_tokens; ++i) {
      const auto row =
          in.get_bytes(static_cast<std::size_t>(layout_.channels * layout_.element_bytes));
      convert.to_fp32(row.data(), layout_.channels, channels_.data());
      const auto is_finite = [](float x) { return std::isfinite(x); };
      if (!std::all_of(channels_.begin(), channels_.end(), is_finite))
        return damaged("a residual element that is not finite");
      out_.write_token(layout_.coded_tokens + i, channels_, target_.backend);
    }
    return {};
  }

  MutableTensorView out_;
  Layout layout_;
  Target target_;
  std::vector<float> channels_;
};

}  // namespace

Status decode(const SectionContext& context, int bits, std::span<const std::byte> payload,
              std::span<const MutableSectionTensor> tensors) {
  const auto layout = [&](const MutableSectionTensor& tensor) {
    return layout_of(context, bits, context.kind, tensor.values.shape);
  };
  std::int64_t expected = 0;
  for (const MutableSectionTensor& tensor : tensors) expected += layout(tensor).bytes();
  const auto size = static_cast<std::int64_t>(payload.size());
  if (Status status = check_payload_size(size, expected); !status) return status;
  const Target target{.backend = context.backend, .is_streamed = is_streamed(tensors)};
  for (const MutableSectionTensor& tensor : tensors) {
    const auto bytes = static_cast<std::size_t>(layout(tensor).bytes());
    Status status = TensorDecoder(tensor.values, layout(tensor), target).run(payload.first(bytes));
    if (!status) return status;
    payload = payload.subspan(bytes);
  }
  return {};
}

}  // namespace sluice::kivi
