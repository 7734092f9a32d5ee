// The bytes of a .kvb container to a KV cache.
// Where in the flow: the inverse of encode.h. The bytes may be anyone's: every lie is an Error that
// names the file.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "codec/container/header.h"
#include "codec/registry.h"

namespace sluice {

struct DecodeOptions {
  Backend backend = best_backend();  // the tensors do not depend on it
};

// The codec and level that the header names, if this build has them in that version.
[[nodiscard]] Result<CodecLevel> codec_of(const ContainerHeader& header, const std::string& name);

// Every section's bytes are those that were written.
[[nodiscard]] Status check_checksums(std::span<const std::byte> file, const ContainerHeader& header,
                                     const std::string& name);

// One section alone, into tensors that the caller owns: checksum, then codec. `cache` is allocated
// from header.shape.
[[nodiscard]] Status decode_one_section(std::span<const std::byte> file,
                                        const ContainerHeader& header, const SectionEntry& section,
                                        KvCache& cache, const std::string& name,
                                        const DecodeOptions& options = {});

// Everything. Allocates the cache only after the sections' sizes have justified it
// (CodecInfo::max_elements_per_byte).
[[nodiscard]] Result<KvCache> decode_container(std::span<const std::byte> file,
                                               const std::string& name,
                                               const DecodeOptions& options = {});

}  // namespace sluice
