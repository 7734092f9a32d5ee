// The header of a .kvb container: what is inside and where, checked before anything is allocated.
// Where in the flow: encode.cc writes it, decode.cc and `codec inspect` read it. The bytes:
// spec.md.
// Surprise: a parsed header has proven that sections tile the file and that every tensor is covered
// once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/kv_cache.h"

namespace sluice {

class FileSeal;

// What one section codes of its layers.
enum class SectionKind : std::uint8_t { kKey = 0, kValue = 1, kLatent = 2, kKeyAndValue = 3 };
[[nodiscard]] std::string_view to_text(SectionKind kind);  // "key", …, "key+value"
[[nodiscard]] std::span<const TensorKind> tensor_kinds(SectionKind kind);

struct SectionEntry {
  std::size_t first_entry = 0;  // index of its first layer in ContainerHeader::shape.layers
  std::size_t num_entries = 0;  // consecutive layers
  SectionKind kind = SectionKind::kKey;
  std::int32_t refinement = 0;
  std::uint32_t crc32 = 0;  // of its bytes
  std::int64_t offset = 0;  // from the start of the file
  DataSize size;            // as stored, with its seal
  DataSize side;            // of them, not symbols
};

using Bytes32 = std::array<std::byte, 32>;
[[nodiscard]] std::string hex(const Bytes32& bytes);  // 64 lower-case digits

struct ContainerHeader {
  std::string codec_id;
  std::uint32_t codec_version = 0;
  std::string level;
  // SHA-256 of the model profile that a decoder must hold; absent: none.
  std::optional<Bytes32> model_profile;
  std::optional<Bytes32> seal_salt;  // present in a sealed file
  // Present where tokens were dropped: how many elements there were before (not fewer than
  // `shape` has).
  std::optional<std::int64_t> source_elements;
  KvShape shape;
  std::vector<SectionEntry> sections;
  std::int64_t sections_at = 0;  // where the section table begins
  DataSize header_size;          // sections start here
  DataSize file_size;
  [[nodiscard]] bool is_sealed() const { return seal_salt.has_value(); }
  // Of a section's bytes, what its codec reads.
  [[nodiscard]] DataSize payload_size(const SectionEntry& section) const;
};

// What sizes are measured against: the elements of the cache before any token was dropped.
[[nodiscard]] std::int64_t source_elements(const ContainerHeader& header);

// Elements that the section's tensors hold.
[[nodiscard]] std::int64_t num_elements(const ContainerHeader& header, const SectionEntry& section);

// Its texts are short enough and without control characters, so that readers take them; a capture
// may say anything. The Error has no file.
[[nodiscard]] Status check_texts(const ContainerHeader& header);

// Fills the offsets and the sizes of header and file; sections come with their sizes.
void lay_out(ContainerHeader& header);
// The header's bytes before the section table. `header` is laid out.
[[nodiscard]] std::vector<std::byte> header_front(const ContainerHeader& header);
// The whole header; `seal` is that of a sealed file, else null. Sections come with their checksums.
[[nodiscard]] std::vector<std::byte> header_bytes(const ContainerHeader& header,
                                                  const FileSeal* seal);
// The section's 40 bytes in the table, with `crc32` in place of its own.
[[nodiscard]] std::vector<std::byte> entry_bytes(const SectionEntry& section, std::uint32_t crc32);

// What the first 32 bytes tell: how much a receiver must fetch to have the header, and to have all.
struct ContainerExtent {
  DataSize header_size, file_size;
};
[[nodiscard]] Result<ContainerExtent> parse_extent(std::span<const std::byte> prelude,
                                                   const std::string& name);

// `file` has the file's size and holds the header; sections may still be missing. `name` is for
// errors. Needs memory in proportion to the header's bytes.
[[nodiscard]] Result<ContainerHeader> parse_header(std::span<const std::byte> file,
                                                   const std::string& name);

// CRC-32 as in zlib (ISO 3309).
[[nodiscard]] std::uint32_t crc32_of(std::span<const std::byte> bytes);

}  // namespace sluice
