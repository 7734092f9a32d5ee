#include "tests/codec/container_bytes.h"

#include <gtest/gtest.h>

#include "tests/codec/made_caches.h"

namespace sluice {

KvCache small_cache() {
  return made_cache({.facts = {},
                     .layers = {layer_of(0, {.heads = 1, .tokens = 3, .dim = 4}),
                                layer_of(2, {.heads = 2, .tokens = 2, .dim = 3})}});
}

Bytes encoded(const KvView& view, const std::string& level, EncodeOptions options) {
  auto file = encode_container(view, *find_codec_level(level), options);
  EXPECT_TRUE(file.ok()) << file.error().to_line();
  return file.ok() ? *file : Bytes{};
}

std::string error_of(const Bytes& file, const DecodeOptions& options) {
  const auto result = decode_container(file, "made.kvb", options);
  return result.ok() ? "no error" : result.error().to_line();
}

void fix_header_checksum(Bytes& file) {
  std::uint64_t header_size = 0;
  if (file.size() >= 24) std::memcpy(&header_size, file.data() + 16, sizeof header_size);
  if (header_size < 4 || header_size > file.size()) return;
  const auto body = std::span(file).first(static_cast<std::size_t>(header_size) - 4);
  const std::uint32_t crc = crc32_of(body);
  std::memcpy(file.data() + body.size(), &crc, sizeof crc);
}

Bytes with_right_checksums(Bytes file) {
  fix_header_checksum(file);
  const auto header = parse_header(file, "made.kvb");
  if (!header) return file;
  std::size_t entry_at = static_cast<std::size_t>(header->sections_at) + 4;
  for (const SectionEntry& section : header->sections) {
    const std::uint32_t crc = crc32_of(std::span(file).subspan(
        static_cast<std::size_t>(section.offset), static_cast<std::size_t>(section.size.bytes())));
    std::memcpy(file.data() + entry_at + 12, &crc, sizeof crc);
    entry_at += 40;
  }
  fix_header_checksum(file);
  return file;
}

Bytes32 counting_bytes(int first) {
  Bytes32 bytes;
  for (std::byte& b : bytes) b = static_cast<std::byte>(first++);
  return bytes;
}

}  // namespace sluice
