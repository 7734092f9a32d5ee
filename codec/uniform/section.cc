#include "codec/uniform/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "codec/bytes.h"
#include "codec/damage.h"
#include "codec/row_convert.h"
#include "codec/streaming.h"
#include "codec/uniform/scale.h"

namespace sluice::uniform {
namespace {

constexpr std::int64_t kGroupChannels = 64;

// How a section is written.
struct Target {
  Backend backend;
  bool is_streamed;
};

Rows rows_of(const MutableTensorView& out, bool is_streamed) {
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

// The scales in front of a tensor's codes.
Result<std::vector<std::uint16_t>> read_scales(const SectionLayout& layout, ByteReader& reader) {
  std::vector<std::uint16_t> scales(
      static_cast<std::size_t>(layout.tokens * layout.scales_per_token));
  const auto bytes = reader.get_bytes(scales.size() * sizeof(std::uint16_t));
  std::memcpy(scales.data(), bytes.data(), bytes.size());
  std::uint16_t largest = 0;  // no early exit: the loop vectorises
  for (const std::uint16_t scale : scales) largest = std::max(largest, scale);
  if (!is_valid_scale(largest)) {  // name the first, as a kernel on a GPU does
    return scale_error(*std::find_if_not(scales.begin(), scales.end(), is_valid_scale));
  }
  return scales;
}

// One token after the other, through fp32: any strides.
bool decode_tokens(const Width& width, const SectionLayout& layout,
                   std::span<const std::uint16_t> scales, std::span<const std::uint8_t> codes,
                   const MutableTensorView& out, Backend backend) {
  std::vector<float> channels(static_cast<std::size_t>(layout.channels));
  const auto num_scales = static_cast<std::size_t>(layout.scales_per_token);
  const auto num_bytes = static_cast<std::size_t>(layout.code_bytes_per_token);
  for (std::int64_t token = 0; token < layout.tokens; ++token) {
    const auto i = static_cast<std::size_t>(token);
    if (!width.decode_token(codes.subspan(i * num_bytes, num_bytes), layout.group,
                            scales.subspan(i * num_scales, num_scales), channels))
      return false;
    out.write_token(token, channels, backend);
  }
  return true;
}

// Straight to the target's rows: strides.dim is 1.
bool decode_rows(const Width& width, const SectionLayout& layout,
                 std::span<const std::uint16_t> scales, std::span<const std::uint8_t> codes,
                 const MutableTensorView& out, const Target& target) {
  std::vector<float> wide(scales.size());
  row_convert(Dtype::kFp16, target.backend)
      .to_fp32(std::as_bytes(scales).data(), static_cast<std::int64_t>(scales.size()), wide.data());
  const CodedTensor coded{.scales = wide.data(),
                          .codes = codes.data(),
                          .group = layout.group,
                          .scales_per_token = layout.scales_per_token,
                          .code_bytes_per_token = layout.code_bytes_per_token};
  return width.decode_rows_avx2(coded, rows_of(out, target.is_streamed));
}

Status decode_tensor(const Width& width, const SectionLayout& layout, ByteReader& reader,
                     const MutableTensorView& out, const Target& target) {
  const auto scales = read_scales(layout, reader);
  if (!scales) return scales.error();
  const auto bytes = reader.get_bytes(static_cast<std::size_t>(layout.code_bytes()));
  const std::span codes(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const bool has_rows =
      out.strides.dim == 1 && target.backend == Backend::kAvx2 && width.decode_rows_avx2 != nullptr;
  const bool is_clean = has_rows
                            ? decode_rows(width, layout, *scales, codes, out, target)
                            : decode_tokens(width, layout, *scales, codes, out, target.backend);
  return is_clean ? Status{} : Status{padding_error()};
}

// One tensor's scales and codes into `payload`, which has their size.
void encode_tensor(const Width& width, const SectionLayout& layout, const TensorView& values,
                   Backend backend, std::span<std::byte> payload) {
  std::vector<float> channels(static_cast<std::size_t>(layout.channels));
  std::vector<std::uint16_t> scales(static_cast<std::size_t>(layout.scales_per_token));
  const std::size_t scale_bytes = scales.size() * sizeof(std::uint16_t);
  std::byte* scales_to = payload.data();
  auto* codes = reinterpret_cast<std::uint8_t*>(payload.data() + layout.scale_bytes());
  const bool is_avx2 = backend == Backend::kAvx2 && width.encode_token_avx2 != nullptr;
  for (std::int64_t token = 0; token < layout.tokens; ++token) {
    values.read_token(token, channels, backend);
    make_codable(channels, backend);
    if (is_avx2) {
      width.encode_token_avx2(channels.data(), layout.channels, layout.group, scales.data(), codes);
    } else {
      width.encode_token(channels, layout.group, scales,
                         std::span(codes, static_cast<std::size_t>(layout.code_bytes_per_token)));
    }
    std::memcpy(scales_to, scales.data(), scale_bytes);
    scales_to += scale_bytes;
    codes += layout.code_bytes_per_token;
  }
}

// Payload bytes of all tensors; they lie one after the other.
template <typename Tensors>
std::int64_t payload_bytes(const Width& width, const SectionContext& context, Tensors tensors) {
  std::int64_t bytes = 0;
  for (const auto& tensor : tensors)
    bytes += layout_of(width, context, tensor.values.shape).bytes();
  return bytes;
}

}  // namespace

SectionLayout layout_of(const Width& width, const SectionContext& context,
                        const TensorShape& shape) {
  const std::int64_t channels = shape.channels();
  SLUICE_ASSERT(channels > 0, "an empty tensor in a section");
  const std::int64_t group = context.level == 0 ? std::min(kGroupChannels, channels) : channels;
  return {.channels = channels,
          .tokens = shape.tokens,
          .group = group,
          .scales_per_token = (channels + group - 1) / group,
          .code_bytes_per_token = width.code_bytes(channels)};
}

Error scale_error(std::uint16_t fp16) {
  return damaged(fmt::format("scale {:#06x} is not a finite fp16 >= 0", fp16));
}

Error padding_error() {
  return damaged("padding bits are not zero");
}

std::vector<CodecLevelInfo> levels() {
  return {{"group-64", "one fp16 scale per token and 64 channels"},
          {"token", "one fp16 scale per token over all heads"}};
}

EncodedSection encode(const Width& width, const SectionContext& context,
                      std::span<const SectionTensor> tensors) {
  EncodedSection section;
  section.payload.resize(static_cast<std::size_t>(payload_bytes(width, context, tensors)));
  std::span<std::byte> rest = section.payload;
  for (const SectionTensor& tensor : tensors) {
    const SectionLayout layout = layout_of(width, context, tensor.values.shape);
    const auto bytes = static_cast<std::size_t>(layout.bytes());
    encode_tensor(width, layout, tensor.values, context.backend, rest.first(bytes));
    rest = rest.subspan(bytes);
    section.side_bytes += layout.scale_bytes();
  }
  return section;
}

Status decode(const Width& width, const SectionContext& context, std::span<const std::byte> payload,
              std::span<const MutableSectionTensor> tensors) {
  const std::int64_t expected = payload_bytes(width, context, tensors);
  const auto bytes = static_cast<std::int64_t>(payload.size());
  if (Status status = check_payload_size(bytes, expected); !status) return status;
  const Target target{.backend = context.backend, .is_streamed = is_streamed(tensors)};
  ByteReader reader(payload);
  for (const MutableSectionTensor& tensor : tensors) {
    const SectionLayout layout = layout_of(width, context, tensor.values.shape);
    if (Status status = decode_tensor(width, layout, reader, tensor.values, target); !status)
      return status;
  }
  return {};
}

}  // namespace sluice::uniform
