#include "codec/uniform/section.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "codec/bytes.h"
#include "codec/damage.h"
#include "codec/uniform/scale.h"

namespace sluice::uniform {
namespace {

constexpr std::int64_t kGroupChannels = 64;

Status decode_tensor(const Width& width, const SectionLayout& layout, ByteReader& reader,
                     const MutableTensorView& out) {
  std::vector<std::uint16_t> scales(
      static_cast<std::size_t>(layout.tokens * layout.scales_per_token));
  for (std::uint16_t& scale : scales) {
    scale = reader.get<std::uint16_t>();
    if (!is_valid_scale(scale)) return scale_error(scale);
  }
  std::vector<float> channels(static_cast<std::size_t>(layout.channels));
  for (std::int64_t token = 0; token < layout.tokens; ++token) {
    const auto bytes = reader.get_bytes(static_cast<std::size_t>(layout.code_bytes_per_token));
    const std::span codes(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    const auto token_scales =
        std::span(scales).subspan(static_cast<std::size_t>(token * layout.scales_per_token),
                                  static_cast<std::size_t>(layout.scales_per_token));
    if (!width.decode_token(codes, layout.group, token_scales, channels)) return padding_error();
    out.write_token(token, channels);
  }
  return {};
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
  ByteWriter writer;
  std::int64_t side_bytes = 0;
  for (const SectionTensor& tensor : tensors) {
    const SectionLayout layout = layout_of(width, context, tensor.values.shape);
    std::vector<float> channels(static_cast<std::size_t>(layout.channels));
    std::vector<std::uint16_t> scales(
        static_cast<std::size_t>(layout.tokens * layout.scales_per_token));
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(layout.code_bytes()));
    for (std::int64_t token = 0; token < layout.tokens; ++token) {
      tensor.values.read_token(token, channels);
      std::transform(channels.begin(), channels.end(), channels.begin(), codable);
      width.encode_token(
          channels, layout.group,
          std::span(scales).subspan(static_cast<std::size_t>(token * layout.scales_per_token),
                                    static_cast<std::size_t>(layout.scales_per_token)),
          std::span(codes).subspan(static_cast<std::size_t>(token * layout.code_bytes_per_token),
                                   static_cast<std::size_t>(layout.code_bytes_per_token)));
    }
    writer.put_bytes(std::as_bytes(std::span(scales)));
    writer.put_bytes(std::as_bytes(std::span(codes)));
    side_bytes += layout.scale_bytes();
  }
  return {.payload = std::move(writer).take(), .side_bytes = side_bytes};
}

Status decode(const Width& width, const SectionContext& context, std::span<const std::byte> payload,
              std::span<const MutableSectionTensor> tensors) {
  std::int64_t expected = 0;
  for (const MutableSectionTensor& tensor : tensors) {
    const SectionLayout layout = layout_of(width, context, tensor.values.shape);
    expected += layout.scale_bytes() + layout.code_bytes();
  }
  const auto bytes = static_cast<std::int64_t>(payload.size());
  if (Status status = check_payload_size(bytes, expected); !status) return status;
  ByteReader reader(payload);
  for (const MutableSectionTensor& tensor : tensors) {
    const SectionLayout layout = layout_of(width, context, tensor.values.shape);
    if (Status status = decode_tensor(width, layout, reader, tensor.values); !status) return status;
  }
  return {};
}

}  // namespace sluice::uniform
