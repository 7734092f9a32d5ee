#include "codec/container/encode.h"

#include <algorithm>

#include "base/assert.h"
#include "codec/container/header.h"

namespace sluice {
namespace {

// One section's extent, and its tensors that have elements.
struct SectionPlan {
  SectionEntry entry;
  std::vector<SectionTensor> tensors;
};

std::vector<SectionPlan> plan_sections(const KvView& cache, std::size_t layers_per_section) {
  std::vector<SectionPlan> plans;
  for (std::size_t first = 0; first < cache.layers.size(); first += layers_per_section) {
    const std::size_t count = std::min(layers_per_section, cache.layers.size() - first);
    for (const TensorKind kind : kTensorKinds) {
      SectionPlan plan;
      plan.entry.first_entry = first;
      plan.entry.num_entries = count;
      plan.entry.kind = kind;
      for (std::size_t i = first; i < first + count; ++i) {
        const auto& layer = cache.layers[i];
        const TensorView* tensor = layer.find(kind);
        if (tensor == nullptr || tensor->shape.elements() == 0) continue;
        plan.tensors.push_back({layer.layer, layer.first_token, layer.rope.get(), *tensor});
      }
      if (!plan.tensors.empty()) plans.push_back(std::move(plan));
    }
  }
  return plans;
}

std::int64_t num_elements(const SectionPlan& plan) {
  std::int64_t elements = 0;
  for (const SectionTensor& tensor : plan.tensors) elements += tensor.values.shape.elements();
  return elements;
}

}  // namespace

Result<std::vector<std::byte>> encode_container(const KvView& cache, CodecLevel codec_level,
                                                const EncodeOptions& options) {
  SLUICE_ASSERT(options.layers_per_section > 0, "a section without layers");
  ContainerHeader header;
  header.shape = shape_of(cache);
  if (Status status = check_shape(header.shape); !status) return status.error();
  const CodecInfo& info = codec_level.codec->info;
  header.codec_id = info.id;
  header.codec_version = info.version;
  header.level = codec_level.level_name();
  std::vector<std::vector<std::byte>> payloads;
  for (SectionPlan& plan : plan_sections(cache, options.layers_per_section)) {
    const SectionContext context{.level = codec_level.level,
                                 .kind = plan.entry.kind,
                                 .refinement = 0,
                                 .num_model_layers = num_model_layers(header.shape),
                                 .backend = options.backend};
    auto section = codec_level.codec->encode_section(context, plan.tensors);
    if (!section) return section.error();
    const auto size = static_cast<std::int64_t>(section->payload.size());
    SLUICE_ASSERT(num_elements(plan) / info.max_elements_per_byte <= size,
                  "a section smaller than its codec promises");
    plan.entry.crc32 = crc32_of(section->payload);
    plan.entry.size = DataSize::bytes(size);
    plan.entry.side = DataSize::bytes(section->side_bytes);
    header.sections.push_back(plan.entry);
    payloads.push_back(std::move(section->payload));
  }
  std::vector<std::byte> file = write_header(header);
  file.reserve(static_cast<std::size_t>(header.file_size.bytes()));
  for (const auto& payload : payloads) file.insert(file.end(), payload.begin(), payload.end());
  return file;
}

}  // namespace sluice
