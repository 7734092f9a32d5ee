// The bytes of a .kvb container to a KV cache.
// Where in the flow: the inverse of encode.h. The bytes may be anyone's: every lie is an Error that
// names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "codec/container/header.h"
#include "codec/container/seal.h"
#include "codec/registry.h"

namespace sluice {

struct DecodeOptions {
  Backend backend = best_backend();   // the tensors do not depend on it
  int threads = 1;                    // > 0; nor on this
  const SealKey* seal_key = nullptr;  // a sealed file needs it, and no other file is taken with it
  // Refinements used of each section at most; 0: its base alone.
  std::int32_t refinements_max = std::numeric_limits<std::int32_t>::max();
  std::span<const Codec> codecs = all_codecs();  // that files may name
  // That files may name beside the shipped ones; null ones are passed over.
  std::span<const std::shared_ptr<const ModelProfile>> model_profiles = {};
};

// The codec and level that the header names, if this build has them in that version.
[[nodiscard]] Result<CodecLevel> codec_of(const ContainerHeader& header, const std::string& name,
                                          std::span<const Codec> codecs = all_codecs());

// Every section's bytes are those that were written.
[[nodiscard]] Status check_checksums(std::span<const std::byte> file, const ContainerHeader& header,
                                     const std::string& name);

// One section alone, with the refinements below its own: checksums, seal, codec. `file` is the
// file, or a buffer of its size in which the header and these sections have arrived. `cache` is
// allocated from header.shape.
[[nodiscard]] Status decode_one_section(std::span<const std::byte> file,
                                        const ContainerHeader& header, const SectionEntry& section,
                                        KvCache& cache, const std::string& name,
                                        const DecodeOptions& options = {});

// Everything, into a cache that the caller owns and may use again; it is allocated from a shape
// equal to header.shape. After an error its elements are old, new or mixed.
[[nodiscard]] Status decode_container_into(std::span<const std::byte> file,
                                           const ContainerHeader& header, KvCache& cache,
                                           const std::string& name,
                                           const DecodeOptions& options = {});

// Everything. Allocates the cache only after the sections' sizes have justified it
// (CodecInfo::max_elements_per_byte).
[[nodiscard]] Result<KvCache> decode_container(std::span<const std::byte> file,
                                               const std::string& name,
                                               const DecodeOptions& options = {});

}  // namespace sluice
