#include "codec/container/encode.h"

#include <algorithm>

#include "base/assert.h"
#include "codec/container/header.h"
#include "codec/container/parallel.h"

namespace sluice {
namespace {

// One section's extent, and its tensors that have elements.
struct SectionPlan {
  SectionEntry entry;
  std::vector<SectionTensor> tensors;
};

SectionPlan plan_section(const KvView& cache, std::size_t first, std::size_t count,
                         TensorKind kind) {
  SectionPlan plan;
  plan.entry.first_entry = first;
  plan.entry.num_entries = count;
  plan.entry.kind = static_cast<SectionKind>(kind);
  for (std::size_t i = first; i < first + count; ++i) {
    const auto& layer = cache.layers[i];
    const TensorView* tensor = layer.find(kind);
    if (tensor == nullptr || tensor->shape.elements() == 0) continue;
    plan.tensors.push_back({layer.layer, layer.first_token, layer.rope.get(), *tensor});
  }
  return plan;
}

// All bases, then all first refinements, and so on: whoever has the first half of the file has
// everything, less well.
std::vector<SectionPlan> plan_sections(const KvView& cache, std::size_t layers_per_section,
                                       std::int32_t max_refinements) {
  std::vector<SectionPlan> plans;
  for (std::int32_t refinement = 0; refinement <= max_refinements; ++refinement) {
    for (std::size_t first = 0; first < cache.layers.size(); first += layers_per_section) {
      const std::size_t count = std::min(layers_per_section, cache.layers.size() - first);
      for (const TensorKind kind : kTensorKinds) {
        SectionPlan plan = plan_section(cache, first, count, kind);
        plan.entry.refinement = refinement;
        if (!plan.tensors.empty()) plans.push_back(std::move(plan));
      }
    }
  }
  return plans;
}

std::int64_t num_elements(const SectionPlan& plan) {
  std::int64_t elements = 0;
  for (const SectionTensor& tensor : plan.tensors) elements += tensor.values.shape.elements();
  return elements;
}

using Payloads = std::vector<std::vector<std::byte>>;

// Codes one section; its entry gets its sizes.
Result<std::vector<std::byte>> encode_section(const ContainerHeader& header, SectionPlan& plan,
                                              CodecLevel codec_level,
                                              const EncodeOptions& options) {
  const SectionContext context{.level = codec_level.level,
                               .kind = tensor_kinds(plan.entry.kind).front(),
                               .refinement = plan.entry.refinement,
                               .num_model_layers = num_model_layers(header.shape),
                               .backend = options.backend};
  auto section = codec_level.codec->encode_section(context, plan.tensors);
  if (!section) return section.error();
  const auto size = static_cast<std::int64_t>(section->payload.size());
  SLUICE_ASSERT(plan.entry.refinement > 0 ||
                    num_elements(plan) / codec_level.codec->info.max_elements_per_byte <= size,
                "a section smaller than its codec promises");
  const std::int64_t tag = header.is_sealed() ? kSealTagBytes : 0;
  plan.entry.size = DataSize::bytes(size + tag);
  plan.entry.side = DataSize::bytes(section->side_bytes + tag);
  return std::move(section->payload);
}

// Seals the payloads where there is a key, and fills in the checksums of what is stored. `header`
// is laid out.
Status finish_sections(ContainerHeader& header, Payloads& payloads, const FileSeal* seal,
                       int threads) {
  return for_each_index(payloads.size(), threads, [&](std::size_t i) -> Status {
    SectionEntry& section = header.sections[i];
    if (seal != nullptr) {
      if (Status status = seal->seal_section(section, payloads[i]); !status) return status;
    }
    section.crc32 = crc32_of(payloads[i]);
    return {};
  });
}

Status choose_salt(ContainerHeader& header, const EncodeOptions& options) {
  if (options.seal_key == nullptr) return {};
  const auto salt = options.seal_salt ? Result<Bytes32>(*options.seal_salt) : random_bytes();
  if (!salt) return salt.error();
  header.seal_salt = *salt;
  return {};
}

}  // namespace

Result<std::vector<std::byte>> encode_container(const KvView& cache, CodecLevel codec_level,
                                                const EncodeOptions& options) {
  SLUICE_ASSERT(options.layers_per_section > 0, "a section without layers");
  ContainerHeader header;
  header.shape = shape_of(cache);
  if (Status status = check_shape(header.shape); !status) return status.error();
  if (Status status = check_texts(header); !status) return status.error();
  const CodecInfo& info = codec_level.codec->info;
  header.codec_id = info.id;
  header.codec_version = info.version;
  header.level = codec_level.level_name();
  if (Status status = choose_salt(header, options); !status) return status.error();

  auto plans = plan_sections(cache, options.layers_per_section, info.max_refinements);
  Payloads payloads(plans.size());
  Status status = for_each_index(plans.size(), options.threads, [&](std::size_t i) -> Status {
    auto payload = encode_section(header, plans[i], codec_level, options);
    if (!payload) return payload.error();
    payloads[i] = *std::move(payload);
    return {};
  });
  if (!status) return status.error();
  for (const SectionPlan& plan : plans) header.sections.push_back(plan.entry);
  lay_out(header);

  std::optional<FileSeal> seal;
  if (header.is_sealed()) seal.emplace(*options.seal_key, *header.seal_salt, header_front(header));
  const FileSeal* used_seal = seal ? &*seal : nullptr;
  status = finish_sections(header, payloads, used_seal, options.threads);
  if (!status) return status.error();
  std::vector<std::byte> file = header_bytes(header, used_seal);
  file.reserve(static_cast<std::size_t>(header.file_size.bytes()));
  for (const auto& payload : payloads) file.insert(file.end(), payload.begin(), payload.end());
  return file;
}

}  // namespace sluice
