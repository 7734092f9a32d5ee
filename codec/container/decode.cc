#include "codec/container/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/assert.h"
#include "codec/container/layout.h"
#include "codec/container/parallel.h"
#include "codec/model_profile/model_profile.h"

namespace sluice {
namespace {

using Payload = std::span<const std::byte>;

constexpr const char* kEncodeAgain = "the file is damaged: encode it again";

Payload stored_bytes(std::span<const std::byte> file, const SectionEntry& section) {
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
  if (crc32_of(stored_bytes(file, section)) == section.crc32) return {};
  return error_in_section(name, section, error_in("", "its checksum is wrong", kEncodeAgain));
}

// The codec knows such sections, and what the section's layers hold can be in its bytes.
Status check_section(const ContainerHeader& header, const SectionEntry& section,
                     CodecLevel codec_level, const std::string& name) {
  const CodecInfo& info = codec_level.codec->info;
  const std::int32_t refinements = info.levels[codec_level.level].refinements;
  const auto wrong = [&](const std::string& what) {
    return error_in_section(name, section, error_in("", what, kEncodeAgain));
  };
  if (section.refinement > refinements) {
    return wrong(fmt::format("is refinement {}, and `{}` has {}", section.refinement,
                             codec_level.id(), refinements));
  }
  const bool is_joint = section.kind == SectionKind::kKeyAndValue;
  if (is_joint && !info.joins_keys_and_values)
    return wrong(fmt::format("joins keys and values, and codec `{}` does not", info.id));
  if (!is_joint && section.kind != SectionKind::kLatent && info.joins_keys_and_values)
    return wrong(fmt::format("parts keys from values, and codec `{}` joins them", info.id));
  const std::int64_t elements = num_elements(header, section);
  const std::int64_t bytes = header.payload_size(section).bytes();
  if (section.refinement == 0 && elements / info.max_elements_per_byte > bytes) {
    return wrong(
        fmt::format("{} bytes cannot hold {} elements of codec `{}`", bytes, elements, info.id));
  }
  return {};
}

// Null when the file is not sealed; proves the header's tag.
Result<std::optional<FileSeal>> open_seal(std::span<const std::byte> file,
                                          const ContainerHeader& header, const std::string& name,
                                          const DecodeOptions& options) {
  if (!header.is_sealed()) {
    if (options.seal_key == nullptr) return std::optional<FileSeal>();
    return error_in(name, "is not sealed, but a key is given",
                    "leave out --seal-key if you trust the file without a seal");
  }
  if (options.seal_key == nullptr)
    return error_in(name, "is sealed", "name the key's file with --seal-key");
  FileSeal seal(*options.seal_key, *header.seal_salt,
                file.first(static_cast<std::size_t>(header.sections_at)));
  const std::size_t tag_at = static_cast<std::size_t>(header.header_size.bytes()) -
                             container::kChecksumBytes - kSealTagBytes;
  if (!seal.fits_header(file.first(tag_at), file.subspan(tag_at, kSealTagBytes))) {
    return error_in(name, "the key does not open it",
                    "use the key that it was sealed with; with that key, the header was changed");
  }
  return std::optional<FileSeal>(std::move(seal));
}

// Null when the file names none. Error: nobody here holds it.
Result<std::shared_ptr<const ModelProfile>> find_profile_of(const ContainerHeader& header,
                                                            const std::string& name,
                                                            const DecodeOptions& options) {
  using Found = std::shared_ptr<const ModelProfile>;
  if (!header.model_profile) return Found();
  for (const Found& profile : options.model_profiles) {
    if (profile && profile->sha256 == *header.model_profile) return profile;
  }
  if (Found shipped = shipped_model_profile(*header.model_profile)) return shipped;
  return error_in(name,
                  fmt::format("needs the model profile with SHA-256 {}, which is not here",
                              hex(*header.model_profile)),
                  "name its file with --model-profile, or encode without one");
}

// A header that has passed every check that needs no section: what it is decoded with.
struct Opened {
  CodecLevel codec_level;
  std::shared_ptr<const ModelProfile> model_profile;  // null: none
  std::optional<FileSeal> seal;
};

Result<Opened> open_header(std::span<const std::byte> file, const ContainerHeader& header,
                           const std::string& name, const DecodeOptions& options) {
  const auto codec_level = codec_of(header, name, options.codecs);
  if (!codec_level) return codec_level.error();
  auto profile = find_profile_of(header, name, options);
  if (!profile) return profile.error();
  auto seal = open_seal(file, header, name, options);
  if (!seal) return seal.error();
  return Opened{*codec_level, *std::move(profile), *std::move(seal)};
}

// A section's base and refinements, in order; the last is the section itself.
using Chain = std::vector<const SectionEntry*>;

bool codes_the_same(const SectionEntry& a, const SectionEntry& b) {
  return a.first_entry == b.first_entry && a.kind == b.kind;
}

// Of the whole file, in the order of their bases.
std::vector<Chain> chains_of(const ContainerHeader& header, std::int32_t refinements_max) {
  std::vector<Chain> chains;
  std::map<std::pair<std::size_t, SectionKind>, std::size_t> chain_of;
  for (const SectionEntry& section : header.sections) {
    if (section.refinement > refinements_max) continue;
    const auto [found, is_new] =
        chain_of.try_emplace({section.first_entry, section.kind}, chains.size());
    if (is_new) chains.emplace_back();
    chains[found->second].push_back(&section);
  }
  return chains;
}

std::vector<MutableSectionTensor> tensors_of(const ContainerHeader& header,
                                             const SectionEntry& section, KvCache& cache) {
  std::vector<MutableSectionTensor> tensors;
  for (std::size_t entry = section.first_entry; entry < section.first_entry + section.num_entries;
       ++entry) {
    const auto& layer = header.shape.layers[entry];
    for (const TensorKind kind : tensor_kinds(section.kind)) {
      const TensorShape* tensor = layer.find(kind);
      if (tensor == nullptr || tensor->elements() == 0) continue;
      tensors.push_back({.layer = layer.layer,
                         .first_token = layer.first_token,
                         .rope = layer.rope.get(),
                         .values = cache.mutable_tensor(entry, kind),
                         .kind = kind,
                         .positions = positions_of(layer)});
    }
  }
  return tensors;
}

Status decode_chain(std::span<const std::byte> file, const ContainerHeader& header,
                    const Opened& opened, const Chain& chain, KvCache& cache,
                    const std::string& name, const DecodeOptions& options) {
  std::vector<std::vector<std::byte>> opened_bytes;  // of a sealed file
  std::vector<Payload> payloads;
  for (const SectionEntry* section : chain) {
    if (Status status = check_checksum(file, *section, name); !status) return status;
    payloads.push_back(stored_bytes(file, *section));
    if (!opened.seal) continue;
    auto payload = opened.seal->open_section(*section, payloads.back());
    if (!payload) {
      return error_in_section(name, *section,
                              error_in("", "its seal is broken", "do not use the file"));
    }
    opened_bytes.push_back(*std::move(payload));
    payloads.back() = opened_bytes.back();  // moving the outer vector leaves the bytes in place
  }
  const SectionEntry& section = *chain.back();
  const SectionContext context{.level = opened.codec_level.level,
                               .kind = tensor_kinds(section.kind).front(),
                               .refinement = section.refinement,
                               .lower_payloads = std::span(payloads).first(payloads.size() - 1),
                               .num_model_layers = num_model_layers(header.shape),
                               .keys_are_rotated = header.shape.facts.keys == KeyForm::kPostRope,
                               .model_profile = opened.model_profile.get(),
                               .backend = options.backend};
  const auto tensors = tensors_of(header, section, cache);
  SLUICE_ASSERT(!tensors.empty(), "a section without elements passed its header's check");
  const Status status = opened.codec_level.codec->decode_section(context, payloads.back(), tensors);
  return status ? status : error_in_section(name, section, status.error());
}

Status decode_sections(std::span<const std::byte> file, const ContainerHeader& header,
                       const Opened& opened, KvCache& cache, const std::string& name,
                       const DecodeOptions& options) {
  const auto chains = chains_of(header, options.refinements_max);
  return for_each_index(chains.size(), options.threads, [&](std::size_t i) {
    return decode_chain(file, header, opened, chains[i], cache, name, options);
  });
}

bool have_same_tensors(const KvShape& a, const KvShape& b) {
  return std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                    [](const auto& x, const auto& y) {
                      return x.key == y.key && x.value == y.value && x.latent == y.latent;
                    });
}

}  // namespace

Result<CodecLevel> codec_of(const ContainerHeader& header, const std::string& name,
                            std::span<const Codec> codecs) {
  auto found = find_codec_level(header.codec_id, header.level, codecs);
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
  const auto opened = open_header(file, header, name, options);
  if (!opened) return opened.error();
  Chain chain;
  for (const SectionEntry& other : header.sections) {
    if (codes_the_same(other, section) && other.refinement < section.refinement)
      chain.push_back(&other);
  }
  chain.push_back(&section);
  for (const SectionEntry* part : chain) {
    if (Status status = check_section(header, *part, opened->codec_level, name); !status)
      return status;
  }
  return decode_chain(file, header, *opened, chain, cache, name, options);
}

Status decode_container_into(std::span<const std::byte> file, const ContainerHeader& header,
                             KvCache& cache, const std::string& name,
                             const DecodeOptions& options) {
  SLUICE_ASSERT(have_same_tensors(header.shape, shape_of(cache.view())),
                "decode_container_into: the cache has another shape");
  const auto opened = open_header(file, header, name, options);
  if (!opened) return opened.error();
  for (const SectionEntry& section : header.sections) {
    if (Status status = check_section(header, section, opened->codec_level, name); !status)
      return status;
  }
  return decode_sections(file, header, *opened, cache, name, options);
}

Result<KvCache> decode_container(std::span<const std::byte> file, const std::string& name,
                                 const DecodeOptions& options) {
  const auto header = parse_header(file, name);
  if (!header) return header.error();
  const auto opened = open_header(file, *header, name, options);
  if (!opened) return opened.error();
  for (const SectionEntry& section : header->sections) {
    if (Status status = check_section(*header, section, opened->codec_level, name); !status)
      return status.error();
  }
  KvCache cache = KvCache::allocate(header->shape);
  if (Status status = decode_sections(file, *header, *opened, cache, name, options); !status)
    return status.error();
  return cache;
}

}  // namespace sluice
