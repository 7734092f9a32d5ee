#include "codec/cachegen_published/binding.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "codec/bytes.h"
#include "codec/cachegen_published/kernel.h"
#include "codec/cachegen_released/binding.h"
#include "codec/cachegen_released/kernel.h"
#include "codec/damage.h"
#include "codec/dequantise/element_sink.h"
#include "codec/entropy/binding.h"
#include "codec/row_convert.h"
#include "codec/streaming.h"
#include "codec/uniform/scale.h"

namespace sluice {
namespace cachegen_published {
namespace {

constexpr float kLayerBins[] = {0.5F, 1.0F, 1.5F};  // by third of the layers, the paper's

struct Level {
  const char* name;
  const char* summary;
  float factor;  // of the bins
};
constexpr Level kLevels[] = {
    {"step-0.35", "bins 0.175, 0.35, 0.525 of the deltas' typical size", 0.35F},
    {"step-0.7", "bins 0.35, 0.7, 1.05 of the deltas' typical size", 0.7F},
    {"step-1.4", "bins 0.7, 1.4, 2.1 of the deltas' typical size", 1.4F},
};
constexpr std::size_t kDefaultLevel = 1;

void dequantise_anchor(std::span<const std::int16_t> symbols, std::uint16_t scale,
                       std::span<float> anchor) {
  const float step = cachegen_released::step_of(scale, kAnchorSymbol);
  for (std::size_t c = 0; c < symbols.size(); ++c)
    anchor[c] = static_cast<float>(symbols[c]) * step;
}

// What a tensor's tokens become. Rows are tokens.
struct Anchors {
  std::vector<std::uint16_t> scales;
  std::vector<std::int16_t> symbols;
};

class TensorEncoder {
 public:
  TensorEncoder(const TensorView& values, Backend backend)
      : backend_(backend),
        channels_(static_cast<std::size_t>(values.shape.channels())),
        values_(static_cast<std::size_t>(values.shape.elements())) {
    for (std::int64_t token = 0; token < values.shape.tokens; ++token) {
      values.read_token(token, row(values_, static_cast<std::size_t>(token)), backend);
    }
    make_codable(values_, backend);
  }

  Anchors code_anchors() {
    const auto quantise_anchor = cachegen_released::quantise_token_of(backend_);
    const auto num_channels = static_cast<std::int64_t>(channels_);
    Anchors anchors;
    for (std::size_t token = 0; token < num_tokens(); token += kGroupTokens) {
      anchors.symbols.resize(anchors.symbols.size() + channels_);
      const auto symbols = std::span(anchors.symbols).last(channels_);
      const auto token_values = row(values_, token);
      const std::uint16_t scale =
          quantise_anchor(token_values.data(), num_channels, kAnchorSymbol, symbols.data());
      dequantise_anchor(symbols, scale, token_values);
      anchors.scales.push_back(scale);
    }
    return anchors;
  }

  // After code_anchors(): the median over tokens of the deltas' root mean square, or the mean where
  // the median is 0; 0 without deltas. The first group of a context would spoil a plain mean: its
  // anchor is the first token, which is unlike all others.
  double typical_delta() {
    std::vector<double> sizes;
    for_each_delta([&](std::span<const float> token_values, std::span<const float> anchor) {
      sizes.push_back(delta_rms(token_values, anchor));
    });
    if (sizes.empty()) return 0;
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    if (*middle > 0) return *middle;
    std::sort(sizes.begin(), sizes.end());
    return std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(sizes.size());
  }

  std::vector<std::int16_t> code_deltas(float step) {
    std::vector<std::int16_t> symbols;
    for_each_delta([&](std::span<const float> token_values, std::span<const float> anchor) {
      symbols.resize(symbols.size() + channels_);
      if (step > 0) quantise_delta(token_values, anchor, step, std::span(symbols).last(channels_));
    });
    return symbols;
  }

 private:
  std::size_t num_tokens() const { return values_.size() / channels_; }
  std::span<float> row(std::vector<float>& values, std::size_t token) const {
    return std::span(values).subspan(token * channels_, channels_);
  }
  template <typename Visit>
  void for_each_delta(const Visit& visit) {
    for (std::size_t token = 0; token < num_tokens(); ++token) {
      if (token % kGroupTokens == 0) continue;
      visit(row(values_, token), row(values_, token - token % kGroupTokens));
    }
  }

  Backend backend_;
  std::size_t channels_;
  std::vector<float> values_;  // codable; anchors as decoded, once code_anchors() has run
};

Result<EncodedSection> encode_section(const SectionContext& context,
                                      std::span<const SectionTensor> tensors) {
  ByteWriter out;
  entropy::PlaneEncoder planes(out);
  std::int64_t side_bytes = 0;
  for (const SectionTensor& tensor : tensors) {
    const TensorShape& shape = tensor.values.shape;
    if (shape.elements() == 0) continue;
    TensorEncoder encoder(tensor.values, context.backend);
    const Anchors anchors = encoder.code_anchors();
    const auto step =
        static_cast<float>(encoder.typical_delta()) * relative_step(context, tensor.layer);
    const std::vector<std::int16_t> deltas = encoder.code_deltas(step);

    const std::size_t before = out.bytes().size();
    out.put(step);
    for (const std::uint16_t scale : anchors.scales) out.put(scale);
    side_bytes += static_cast<std::int64_t>(out.bytes().size() - before);
    const auto groups = static_cast<std::int64_t>(anchors.scales.size());
    for (const auto& matrix :
         {entropy::SymbolMatrix{groups, shape.channels(), anchors.symbols},
          entropy::SymbolMatrix{shape.tokens - groups, shape.channels(), deltas}}) {
      const auto stats =
          planes.encode(matrix, {.column_unit = shape.dim, .backend = context.backend});
      side_bytes += stats.side_bytes();
    }
  }
  return EncodedSection{.payload = std::move(out).take(), .side_bytes = side_bytes};
}

// Decodes one tensor from the front of `payload`; returns the bytes it took.
Result<std::size_t> decode_tensor(const MutableTensorView& values, Backend backend,
                                  bool is_streamed, std::span<const std::byte> payload) {
  const TensorShape& shape = values.shape;
  const auto channels = static_cast<std::size_t>(shape.channels());
  const std::int64_t groups = num_groups(shape.tokens);
  const auto head = read_head(groups, payload);
  if (!head) return head.error();
  payload = payload.subspan(head->bytes);

  std::vector<std::int16_t> symbols(static_cast<std::size_t>(groups) * channels);
  const auto anchor_bytes =
      entropy::decode_plane(payload, groups, shape.channels(), {.backend = backend}, symbols);
  if (!anchor_bytes) return anchor_bytes.error();
  payload = payload.subspan(*anchor_bytes);

  ByteReader scales(head->scales);
  std::vector<float> anchors(symbols.size());  // unrounded: what differences are added to
  dequantise::ElementSink differences(values, backend, is_streamed);
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    const auto group = static_cast<std::size_t>(token / kGroupTokens);
    const auto anchor = std::span(anchors).subspan(group * channels, channels);
    if (token % kGroupTokens != 0) {
      differences.add_row(token, head->step, anchor.data());
      continue;
    }
    dequantise_anchor(std::span(symbols).subspan(group * channels, channels),
                      scales.get<std::uint16_t>(), anchor);
    values.write_token(token, anchor, backend);
  }
  const auto difference_bytes = entropy::decode_plane(
      payload, shape.tokens - groups, shape.channels(), {.backend = backend}, differences);
  if (!difference_bytes) return difference_bytes.error();
  return head->bytes + *anchor_bytes + *difference_bytes;
}

Status decode_section(const SectionContext& context, std::span<const std::byte> payload,
                      std::span<const MutableSectionTensor> tensors) {
  for (const MutableSectionTensor& tensor : tensors) {
    if (tensor.values.shape.elements() == 0) continue;
    const auto bytes = decode_tensor(tensor.values, context.backend, is_streamed(tensors), payload);
    if (!bytes) return bytes.error();
    payload = payload.subspan(*bytes);
  }
  return cachegen_released::check_nothing_left(payload);
}

}  // namespace

float relative_step(const SectionContext& context, std::int64_t layer) {
  const std::int64_t third = std::min<std::int64_t>(2, 3 * layer / context.num_model_layers);
  return kLayerBins[third] * kLevels[context.level].factor;
}

Result<TensorHead> read_head(std::int64_t groups, std::span<const std::byte> payload) {
  TensorHead head;
  ByteReader in(payload);
  head.step = in.get<float>();
  const auto scales = cachegen_released::read_scales(in, groups);
  if (!scales) return scales.error();
  if (!std::isfinite(head.step) || std::signbit(head.step)) {
    return damaged("a section with a step that is no magnitude");
  }
  head.scales = *scales;
  head.bytes = payload.size() - in.left();
  return head;
}

}  // namespace cachegen_published

Codec cachegen_published_codec() {
  CodecInfo info{
      .id = "cachegen-published",
      .summary = "CacheGen as its paper says: groups of 10 tokens, deltas to an 8-bit anchor",
      .max_elements_per_byte = entropy::kMaxElementsPerByte,
      .default_level = cachegen_published::kDefaultLevel};
  for (const auto& level : cachegen_published::kLevels) {
    info.levels.push_back({.name = level.name, .summary = level.summary});
  }
  return {.info = std::move(info),
          .encode_section = cachegen_published::encode_section,
          .decode_section = cachegen_published::decode_section};
}

}  // namespace sluice
