#include "codec/container/encode.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "codec/container/header.h"
#include "codec/container/parallel.h"
#include "codec/container/rate_control.h"
#include "codec/model_profile/model_profile.h"

namespace sluice {
namespace {

// One section's extent, and its tensors that have elements.
struct SectionPlan {
  SectionEntry entry;
  std::vector<SectionTensor> tensors;
  double distortion = 0;  // once it is coded
};

// What tokens are worth, per entry of the cache's layers; empty where it is not known.
using EntryImportance = std::vector<std::vector<float>>;

EntryImportance importance_of(const KvView& cache, const TokenImportance* importance) {
  EntryImportance entries(cache.layers.size());
  if (importance == nullptr) return entries;
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = importance->of(cache.layers[i]);
  return entries;
}

SectionPlan plan_section(const KvView& cache, const EntryImportance& importance, std::size_t first,
                         std::size_t count, SectionKind kind) {
  SectionPlan plan;
  plan.entry.first_entry = first;
  plan.entry.num_entries = count;
  plan.entry.kind = kind;
  for (std::size_t i = first; i < first + count; ++i) {
    const auto& layer = cache.layers[i];
    for (const TensorKind part : tensor_kinds(kind)) {
      const TensorView* tensor = layer.find(part);
      if (tensor == nullptr || tensor->shape.elements() == 0) continue;
      plan.tensors.push_back({.layer = layer.layer,
                              .first_token = layer.first_token,
                              .rope = layer.rope.get(),
                              .values = *tensor,
                              .kind = part,
                              .positions = positions_of(layer),
                              .importance = importance[i]});
    }
  }
  return plan;
}

std::span<const SectionKind> section_kinds(const CodecInfo& info) {
  static constexpr SectionKind kApart[] = {SectionKind::kKey, SectionKind::kValue,
                                           SectionKind::kLatent};
  static constexpr SectionKind kJoint[] = {SectionKind::kKeyAndValue, SectionKind::kLatent};
  if (info.joins_keys_and_values) return kJoint;
  return kApart;
}

// All bases, then all first refinements, and so on: whoever has the first half of the file has
// everything, less well.
std::vector<SectionPlan> plan_sections(const KvView& cache, const EntryImportance& importance,
                                       CodecLevel codec_level, std::size_t layers_per_section) {
  const CodecInfo& info = codec_level.codec->info;
  std::vector<SectionPlan> plans;
  for (std::int32_t refinement = 0; refinement <= codec_level.refinements(); ++refinement) {
    for (std::size_t first = 0; first < cache.layers.size(); first += layers_per_section) {
      const std::size_t count = std::min(layers_per_section, cache.layers.size() - first);
      for (const SectionKind kind : section_kinds(info)) {
        SectionPlan plan = plan_section(cache, importance, first, count, kind);
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
                               .keys_are_rotated = header.shape.facts.keys == KeyForm::kPostRope,
                               .model_profile = options.model_profile,
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
  plan.distortion = section->distortion;
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

// Leaves out refinements until the file has at most `max_size`.
Status limit_size(ContainerHeader header, DataSize max_size, CodecLevel codec_level,
                  std::vector<SectionPlan>& plans, Payloads& payloads) {
  std::vector<SectionCost> costs;
  for (const SectionPlan& plan : plans) {
    costs.push_back({plan.entry, plan.distortion});
    if (plan.entry.refinement == 0) header.sections.push_back(plan.entry);
  }
  lay_out(header);
  if (header.file_size > max_size) {
    const bool is_layered = codec_level.codec->info.levels[codec_level.level].refinements > 0;
    return error_in("",
                    fmt::format("takes {} at `{}`{}, more than the {} allowed",
                                to_text(header.file_size), codec_level.id(),
                                is_layered ? " without any refinement" : "", to_text(max_size)),
                    "allow more, or take a level of fewer bytes");
  }
  const std::vector<bool> keep = choose_sections(costs, header.file_size, max_size);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) continue;
    if (kept != i) {
      plans[kept] = std::move(plans[i]);
      payloads[kept] = std::move(payloads[i]);
    }
    ++kept;
  }
  plans.resize(kept);
  payloads.resize(kept);
  return {};
}

Status choose_salt(ContainerHeader& header, const EncodeOptions& options) {
  if (options.seal_key == nullptr) return {};
  const auto salt = options.seal_salt ? Result<Bytes32>(*options.seal_salt) : random_bytes();
  if (!salt) return salt.error();
  header.seal_salt = *salt;
  return {};
}

// `source_elements`: of the cache before tokens were dropped, where some were.
Result<std::vector<std::byte>> encode_tokens(const KvView& cache, CodecLevel codec_level,
                                             const EncodeOptions& options,
                                             std::optional<std::int64_t> source_elements) {
  ContainerHeader header;
  header.shape = shape_of(cache);
  header.source_elements = source_elements;
  if (Status status = check_texts(header); !status) return status.error();
  const CodecInfo& info = codec_level.codec->info;
  header.codec_id = codec_level.codec_name();
  header.codec_version = info.version;
  CodecLevel whole = codec_level;  // a prefix of a level is a file of the level with fewer sections
  whole.prefix.reset();
  header.level = whole.level_name();
  if (info.uses_model_profile && options.model_profile != nullptr)
    header.model_profile = options.model_profile->sha256;
  if (Status status = choose_salt(header, options); !status) return status.error();

  const EntryImportance importance = importance_of(cache, options.importance);
  auto plans = plan_sections(cache, importance, codec_level, options.layers_per_section);
  Payloads payloads(plans.size());
  Status status = for_each_index(plans.size(), options.threads, [&](std::size_t i) -> Status {
    auto payload = encode_section(header, plans[i], codec_level, options);
    if (!payload) return payload.error();
    payloads[i] = *std::move(payload);
    return {};
  });
  if (!status) return status.error();
  if (options.max_size) {
    status = limit_size(header, *options.max_size, codec_level, plans, payloads);
    if (!status) return status.error();
  }
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

}  // namespace

Result<KeptTokens> kept_tokens_of(const KvView& cache, CodecLevel codec_level,
                                  const TokenImportance* importance) {
  const Reducer& reducer = *codec_level.reducer;
  const auto kept =
      reducer.select({.cache = cache,
                      .keep_percent = reducer.info.levels[codec_level.reducer_level].keep_percent,
                      .importance = importance});
  if (kept) return kept;
  return error_in("", fmt::format("`{}` cannot choose: {}", reducer.info.id, kept.error().what),
                  kept.error().fix);
}

Result<std::vector<std::byte>> encode_container(const KvView& cache, CodecLevel codec_level,
                                                const EncodeOptions& options) {
  SLUICE_ASSERT(options.layers_per_section > 0, "a section without layers");
  const KvShape shape = shape_of(cache);
  if (Status status = check_shape(shape); !status) return status.error();
  const auto elements = has_positions(shape) || codec_level.reducer != nullptr
                            ? std::optional(num_elements(shape))
                            : std::nullopt;
  if (codec_level.reducer == nullptr) return encode_tokens(cache, codec_level, options, elements);
  const auto kept = options.kept_tokens != nullptr
                        ? Result<KeptTokens>(*options.kept_tokens)
                        : kept_tokens_of(cache, codec_level, options.importance);
  if (!kept) return kept.error();
  return encode_tokens(keep_tokens(cache, *kept).view(), codec_level, options, elements);
}

}  // namespace sluice
