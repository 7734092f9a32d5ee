#include "codec/cachegen_released/binding.h"

#include "codec/bytes.h"
#include "codec/cachegen_released/kernel.h"
#include "codec/damage.h"
#include "codec/dequantise/element_sink.h"
#include "codec/entropy/binding.h"
#include "codec/row_convert.h"
#include "codec/streaming.h"
#include "codec/uniform/scale.h"

namespace sluice {
namespace cachegen_released {
namespace {

// Bins as the public code counts them: b bins give the symbols -(b/2 - 1) to b/2 - 1.
struct Level {
  const char* name;
  const char* summary;
  std::int32_t key_bins[3];    // layers up to 10/32, up to 20/32, the rest
  std::int32_t value_bins[2];  // layers up to 2/32, the rest
  entropy::PlaneModel model;
};

constexpr auto kClasses = entropy::PlaneModel::kClassFamily;
constexpr auto kShipped = entropy::PlaneModel::kShipped;
constexpr Level kLevels[] = {
    {"3", "31 steps everywhere", {32, 32, 32}, {32, 32}, kClasses},
    {"3-shipped", "3, with 33 x 16-bit tables in the stream", {32, 32, 32}, {32, 32}, kShipped},
    {"2", "31 steps in early layers, 15 after", {32, 16, 16}, {32, 16}, kClasses},
    {"2-shipped", "2, with 33 x 16-bit tables in the stream", {32, 16, 16}, {32, 16}, kShipped},
    {"1", "15 steps in early layers, 11 after", {16, 16, 12}, {16, 12}, kClasses},
    {"1-shipped", "1, with 33 x 16-bit tables in the stream", {16, 16, 12}, {16, 12}, kShipped},
};
constexpr std::size_t kDefaultLevel = 2;

// Whether the layer lies in the first `split` thirty-seconds of the model.
bool is_before(std::int64_t split, std::int64_t layer, const SectionContext& context) {
  constexpr std::int64_t kTableLayers = 32;
  return layer * kTableLayers < split * context.num_model_layers;
}

// Tokens to scales and symbols; its memory serves all tensors of a section.
class Quantiser {
 public:
  explicit Quantiser(Backend backend)
      : backend_(backend), quantise_token_(quantise_token_of(backend)) {}

  // Puts the scales; the symbols are valid until the next call.
  std::span<const std::int16_t> quantise(const TensorView& values, std::int32_t limit,
                                         ByteWriter& out) {
    const std::int64_t channels = values.shape.channels();
    channels_.resize(static_cast<std::size_t>(channels));
    symbols_.resize(static_cast<std::size_t>(values.shape.elements()));
    for (std::int64_t token = 0; token < values.shape.tokens; ++token) {
      values.read_token(token, channels_, backend_);
      make_codable(channels_, backend_);
      out.put(
          quantise_token_(channels_.data(), channels, limit, symbols_.data() + token * channels));
    }
    return symbols_;
  }

 private:
  Backend backend_;
  QuantiseToken quantise_token_;
  std::vector<float> channels_;
  std::vector<std::int16_t> symbols_;
};

Result<EncodedSection> encode_section(const SectionContext& context,
                                      std::span<const SectionTensor> tensors) {
  ByteWriter out;
  Quantiser quantiser(context.backend);
  entropy::PlaneEncoder planes(out);
  std::int64_t side_bytes = 0;
  for (const SectionTensor& tensor : tensors) {
    const TensorShape& shape = tensor.values.shape;
    if (shape.elements() == 0) continue;
    const std::size_t before = out.bytes().size();
    const auto symbols = quantiser.quantise(tensor.values, max_symbol(context, tensor.layer), out);
    side_bytes += static_cast<std::int64_t>(out.bytes().size() - before);
    const auto stats = planes.encode({shape.tokens, shape.channels(), symbols},
                                     {.model = kLevels[context.level].model,
                                      .column_unit = shape.dim,
                                      .backend = context.backend});
    side_bytes += stats.side_bytes();
  }
  return EncodedSection{.payload = std::move(out).take(), .side_bytes = side_bytes};
}

// Decodes one tensor from the front of `payload`; returns the bytes it took.
Result<std::size_t> decode_tensor(const MutableTensorView& values, std::int32_t limit,
                                  Backend backend, bool is_streamed,
                                  std::span<const std::byte> payload) {
  const TensorShape& shape = values.shape;
  ByteReader in(payload);
  const std::size_t scale_bytes = static_cast<std::size_t>(shape.tokens) * sizeof(std::uint16_t);
  const auto scale_span = read_scales(in, shape.tokens);
  if (!scale_span) return scale_span.error();
  ByteReader scales(*scale_span);
  dequantise::ElementSink sink(values, backend, is_streamed);
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    sink.add_row(token, step_of(scales.get<std::uint16_t>(), limit));
  }
  const auto plane = entropy::decode_plane(in.get_bytes(in.left()), shape.tokens, shape.channels(),
                                           {.backend = backend}, sink);
  if (!plane) return plane.error();
  return scale_bytes + *plane;
}

Status decode_section(const SectionContext& context, std::span<const std::byte> payload,
                      std::span<const MutableSectionTensor> tensors) {
  for (const MutableSectionTensor& tensor : tensors) {
    if (tensor.values.shape.elements() == 0) continue;
    const auto bytes = decode_tensor(tensor.values, max_symbol(context, tensor.layer),
                                     context.backend, is_streamed(tensors), payload);
    if (!bytes) return bytes.error();
    payload = payload.subspan(*bytes);
  }
  return check_nothing_left(payload);
}

}  // namespace

entropy::PlaneModel plane_model(std::size_t level) {
  return kLevels[level].model;
}

Result<std::span<const std::byte>> read_scales(ByteReader& in, std::int64_t count) {
  const auto bytes = in.get_bytes(static_cast<std::size_t>(count) * sizeof(std::uint16_t));
  if (!in.ok()) return damaged("a section that ends in its scales");
  ByteReader scales(bytes);
  for (std::int64_t i = 0; i < count; ++i) {
    if (!uniform::is_valid_scale(scales.get<std::uint16_t>()))
      return damaged("a section with a scale that is no magnitude");
  }
  return bytes;
}

Status check_nothing_left(std::span<const std::byte> payload) {
  if (payload.empty()) return {};
  return damaged("a section with bytes after its last tensor");
}

std::int32_t max_symbol(const SectionContext& context, std::int64_t layer) {
  const Level& level = kLevels[context.level];
  const bool is_value = context.kind == TensorKind::kValue;
  const std::int32_t bins = is_value ? level.value_bins[is_before(2, layer, context) ? 0 : 1]
                                     : level.key_bins[is_before(10, layer, context)   ? 0
                                                      : is_before(20, layer, context) ? 1
                                                                                      : 2];
  return bins / 2 - 1;
}

}  // namespace cachegen_released

Codec cachegen_released_codec() {
  CodecInfo info{.id = "cachegen-released",
                 .summary = "CacheGen as its public code quantises: a maximum per token, no deltas",
                 .max_elements_per_byte = entropy::kMaxElementsPerByte,
                 .default_level = cachegen_released::kDefaultLevel};
  for (const auto& level : cachegen_released::kLevels) {
    info.levels.push_back({.name = level.name, .summary = level.summary});
  }
  return {.info = std::move(info),
          .encode_section = cachegen_released::encode_section,
          .decode_section = cachegen_released::decode_section};
}

}  // namespace sluice
