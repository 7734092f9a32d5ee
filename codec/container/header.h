// The header of a .kvb container: what is inside and where, checked before anything is allocated.
// Where in the flow: encode.cc writes it, decode.cc and `codec inspect` read it. The bytes:
// spec.md.
// Surprise: a parsed header has proven that sections tile the file and that every tensor is covered
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/kv_cache.h"

namespace sluice {

struct SectionEntry {
  std::size_t first_entry = 0;  // index of its first layer in ContainerHeader::shape.layers
  std::size_t num_entries = 0;  // consecutive layers
  TensorKind kind = TensorKind::kKey;
  std::int32_t refinement = 0;
  std::uint32_t crc32 = 0;  // of its bytes
  std::int64_t offset = 0;  // from the start of the file
  DataSize size;
  DataSize side;  // of them, not symbols
};

struct ContainerHeader {
  std::string codec_id;
  std::uint32_t codec_version = 0;
  std::string level;
  KvShape shape;
  std::vector<SectionEntry> sections;
  DataSize header_size;  // sections start here
  DataSize file_size;
};

// Fills offsets and sizes of header and file; sections come with their sizes and checksums.
[[nodiscard]] std::vector<std::byte> write_header(ContainerHeader& header);

// `file` is the whole file, `name` is for errors. Needs memory in proportion to the header's bytes.
[[nodiscard]] Result<ContainerHeader> parse_header(std::span<const std::byte> file,
                                                   const std::string& name);

// CRC-32 as in zlib (ISO 3309).
[[nodiscard]] std::uint32_t crc32_of(std::span<const std::byte> bytes);

}  // namespace sluice
