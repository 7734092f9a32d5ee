#include "tests/bench/speed_codec.h"

#include <algorithm>

#include "codec/container/header.h"
#include "codec/container/parallel.h"

namespace sluice::bench {
namespace {

constexpr std::size_t kLayersPerSection = 8;  // as containers have

std::vector<SectionKind> section_kinds(const CodecInfo& info) {
  if (info.joins_keys_and_values) return {SectionKind::kKeyAndValue, SectionKind::kLatent};
  return {SectionKind::kKey, SectionKind::kValue, SectionKind::kLatent};
}

}  // namespace

CodecWork::CodecWork(const SpeedInput& input, CodecLevel codec_level, Backend backend)
    : codec_(codec_level.codec) {
  const TokenRange all = token_range(shape_of(input.cache.view()));
  const std::int64_t chunk_tokens = input.chunk_tokens > 0 ? input.chunk_tokens : all.tokens();
  for (std::int64_t begin = all.begin; begin < all.end; begin += chunk_tokens) {
    const KvView from =
        slice_tokens(input.cache.view(), {begin, std::min(begin + chunk_tokens, all.end)});
    chunks_.push_back(std::make_unique<Chunk>(from, KvCache::allocate(shape_of(from))));
    add_chunk(*chunks_.back(), input, codec_level, backend);
  }
}

void CodecWork::add_chunk(Chunk& chunk, const SpeedInput& input, CodecLevel codec_level,
                          Backend backend) {
  const auto& layers = chunk.from.layers;
  for (const auto& layer : layers)
    chunk.importance.push_back(input.importance ? input.importance->of(layer)
                                                : std::vector<float>());
  for (std::size_t first = 0; first < layers.size(); first += kLayersPerSection) {
    const std::size_t end = std::min(first + kLayersPerSection, layers.size());
    for (const SectionKind kind : section_kinds(codec_->info)) {
      Section section{
          .context = {.level = codec_level.level,
                      .kind = tensor_kinds(kind).front(),
                      .num_model_layers = input.num_model_layers,
                      .keys_are_rotated = chunk.from.facts.keys == KeyForm::kPostRope,
                      .model_profile =
                          codec_->info.uses_model_profile ? input.model_profile.get() : nullptr,
                      .backend = backend},
          .from = {},
          .to = {},
          .payload = {}};
      for (std::size_t i = first; i < end; ++i) {
        const auto& layer = layers[i];
        for (const TensorKind part : tensor_kinds(kind)) {
          const TensorView* values = layer.find(part);
          if (values == nullptr || values->shape.elements() == 0) continue;
          section.from.push_back({layer.layer, layer.first_token, layer.rope.get(), *values, part,
                                  positions_of(layer), chunk.importance[i]});
          section.to.push_back({layer.layer, layer.first_token, layer.rope.get(),
                                chunk.to.mutable_tensor(i, part), part, positions_of(layer)});
        }
      }
      if (!section.from.empty()) sections_.push_back(std::move(section));
    }
  }
}

Status CodecWork::encode(int cores) {
  return for_each_index(sections_.size(), cores, [&](std::size_t i) -> Status {
    Section& section = sections_[i];
    auto encoded = codec_->encode_section(section.context, section.from);
    if (!encoded) return encoded.error();
    section.payload = std::move(encoded->payload);
    return {};
  });
}

Status CodecWork::decode(int cores) {
  return for_each_index(sections_.size(), cores, [&](std::size_t i) {
    const Section& section = sections_[i];
    return codec_->decode_section(section.context, section.payload, section.to);
  });
}

std::int64_t CodecWork::num_payload_bytes() const {
  std::int64_t bytes = 0;
  for (const Section& section : sections_)
    bytes += static_cast<std::int64_t>(section.payload.size());
  return bytes;
}

}  // namespace sluice::bench
