#include "tests/bench/speed_codec.h"

#include "codec/container/parallel.h"

namespace sluice::bench {

CodecWork::CodecWork(const KvCache& cache, KvCache& target, std::int64_t num_model_layers,
                     CodecLevel codec_level, Backend backend)
    : codec_(codec_level.codec) {
  constexpr std::size_t kLayersPerSection = 8;  // as containers have
  const auto& layers = cache.view().layers;
  for (std::size_t first = 0; first < layers.size(); first += kLayersPerSection) {
    for (const TensorKind kind : kTensorKinds) {
      Section section{.context = {.level = codec_level.level,
                                  .kind = kind,
                                  .num_model_layers = num_model_layers,
                                  .backend = backend},
                      .from = {},
                      .to = {},
                      .payload = {}};
      const std::size_t end = std::min(first + kLayersPerSection, layers.size());
      for (std::size_t i = first; i < end; ++i) {
        const auto& layer = layers[i];
        const TensorView* values = layer.find(kind);
        if (values == nullptr || values->shape.elements() == 0) continue;
        section.from.push_back({layer.layer, layer.first_token, layer.rope.get(), *values});
        section.to.push_back(
            {layer.layer, layer.first_token, layer.rope.get(), target.mutable_tensor(i, kind)});
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
