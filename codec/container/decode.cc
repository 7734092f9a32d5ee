#include "codec/container/decode.h"

#include <fmt/format.h>

#include "codec/container/header.h"

namespace sluice {
namespace {

constexpr const char* kEncodeAgain = "the file is damaged: encode it again";

// What a section's layers hold, against what its bytes can have held.
Status check_allocation(const ContainerHeader& header, std::int64_t max_elements_per_byte,
                        const std::string& name) {
  for (std::size_t i = 0; i < header.sections.size(); ++i) {
    const SectionEntry& section = header.sections[i];
    std::int64_t elements = 0;  // check_shape() has summed all of them within int64
    for (std::size_t entry = section.first_entry; entry < section.first_entry + section.num_entries;
         ++entry) {
      const TensorShape* tensor = header.shape.layers[entry].find(section.kind);
      if (tensor != nullptr) elements += tensor->elements();
    }
    if (elements / max_elements_per_byte > section.size.bytes()) {
      return error_in(name,
                      fmt::format("section {}: {} bytes cannot hold {} elements of codec `{}`", i,
                                  section.size.bytes(), elements, header.codec_id),
                      kEncodeAgain);
    }
  }
  return {};
}

std::vector<MutableSectionTensor> tensors_of(const ContainerHeader& header,
                                             const SectionEntry& section, KvCache& cache) {
  std::vector<MutableSectionTensor> tensors;
  for (std::size_t entry = section.first_entry; entry < section.first_entry + section.num_entries;
       ++entry) {
    const auto& layer = header.shape.layers[entry];
    const TensorShape* tensor = layer.find(section.kind);
    if (tensor == nullptr || tensor->elements() == 0) continue;
    tensors.push_back({layer.layer, layer.first_token, layer.rope.get(),
                       cache.mutable_tensor(entry, section.kind)});
  }
  return tensors;
}

std::span<const std::byte> payload_of(std::span<const std::byte> file,
                                      const SectionEntry& section) {
  return file.subspan(static_cast<std::size_t>(section.offset),
                      static_cast<std::size_t>(section.size.bytes()));
}

Error error_in_section(const std::string& name, const SectionEntry& section, const Error& error) {
  return error_in(
      name,
      fmt::format("section at byte {} ({}): {}", section.offset, to_text(section.kind), error.what),
      error.fix);
}

Status check_checksum(std::span<const std::byte> file, const SectionEntry& section,
                      const std::string& name) {
  if (crc32_of(payload_of(file, section)) == section.crc32) return {};
  return error_in_section(name, section, error_in("", "its checksum is wrong", kEncodeAgain));
}

}  // namespace

Result<CodecLevel> codec_of(const ContainerHeader& header, const std::string& name) {
  auto found = find_codec_level(header.codec_id, header.level);
  if (!found) return error_in(name, found.error().what, found.error().fix);
  const CodecInfo& info = found->codec->info;
  if (info.version != header.codec_version) {
    return error_in(name,
                    fmt::format("codec `{}` has version {} here and {} in the file", info.id,
                                info.version, header.codec_version),
                    "decode it with the build that wrote it, or encode it again");
  }
  return found;
}

Status check_checksums(std::span<const std::byte> file, const ContainerHeader& header,
                       const std::string& name) {
  for (const SectionEntry& section : header.sections) {
    if (Status status = check_checksum(file, section, name); !status) return status;
  }
  return {};
}

Status decode_one_section(std::span<const std::byte> file, const ContainerHeader& header,
                          const SectionEntry& section, KvCache& cache, const std::string& name,
                          const DecodeOptions& options) {
  const auto codec_level = codec_of(header, name);
  if (!codec_level) return codec_level.error();
  if (Status status = check_checksum(file, section, name); !status) return status;
  const SectionContext context{.level = codec_level->level,
                               .kind = section.kind,
                               .refinement = section.refinement,
                               .num_model_layers = num_model_layers(header.shape),
                               .backend = options.backend};
  const auto tensors = tensors_of(header, section, cache);
  if (tensors.empty()) {
    return error_in_section(name, section,
                            error_in("", "its layers hold no elements", kEncodeAgain));
  }
  const Status status =
      codec_level->codec->decode_section(context, payload_of(file, section), tensors);
  return status ? status : error_in_section(name, section, status.error());
}

Result<KvCache> decode_container(std::span<const std::byte> file, const std::string& name,
                                 const DecodeOptions& options) {
  const auto header = parse_header(file, name);
  if (!header) return header.error();
  const auto codec_level = codec_of(*header, name);
  if (!codec_level) return codec_level.error();
  if (Status status =
          check_allocation(*header, codec_level->codec->info.max_elements_per_byte, name);
      !status) {
    return status.error();
  }
  KvCache cache = KvCache::allocate(header->shape);
  for (const SectionEntry& section : header->sections) {
    if (Status status = decode_one_section(file, *header, section, cache, name, options); !status)
      return status.error();
  }
  return cache;
}

}  // namespace sluice
