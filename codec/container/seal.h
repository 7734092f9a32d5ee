// Sealing: sections and header of a .kvb under AES-256-GCM (NIST SP 800-38D, through OpenSSL), for
// a cache tells the prompt that made it. What is hidden and what stays readable: spec.md. Where in
// the flow: encode.cc seals each section when it is coded, decode.cc opens it after its CRC.
// Surprise: every file has a key of its own, derived from the user's and the file's random salt
// (HKDF, RFC 5869), so nonces need only differ within a file.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "codec/container/header.h"

namespace sluice {

inline constexpr std::int64_t kSealTagBytes = 16;
using SealTag = std::array<std::byte, kSealTagBytes>;

// A user's key; wiped when it goes.
class SealKey {
 public:
  explicit SealKey(const Bytes32& bytes) : bytes_(bytes) {}
  SealKey(const SealKey&) = default;
  SealKey& operator=(const SealKey&) = default;
  ~SealKey();
  [[nodiscard]] const Bytes32& bytes() const { return bytes_; }

 private:
  Bytes32 bytes_;
};

// A file of exactly 32 bytes that nobody but its owner may read.
[[nodiscard]] Result<SealKey> read_seal_key(const std::filesystem::path& path);
// Writes a new random one, readable by its owner only. Refuses a path that exists.
[[nodiscard]] Status make_seal_key(const std::filesystem::path& path);

// 32 bytes of OpenSSL's random generator.
[[nodiscard]] Result<Bytes32> random_bytes();

// The seal of one file.
class FileSeal {
 public:
  // `header_front`: the header's bytes before the section table.
  FileSeal(const SealKey& key, const Bytes32& salt, std::span<const std::byte> header_front);
  FileSeal(const FileSeal&) = default;
  FileSeal& operator=(const FileSeal&) = default;
  ~FileSeal();

  // Encrypts the payload in place and appends the tag. `section` is laid out; its checksum does not
  // matter. At most 2^36 - 32 bytes, AES-GCM's limit.
  [[nodiscard]] Status seal_section(const SectionEntry& section,
                                    std::vector<std::byte>& payload) const;
  // The payload, or nothing when `stored` is not what was sealed at this place of this file.
  [[nodiscard]] std::optional<std::vector<std::byte>> open_section(
      const SectionEntry& section, std::span<const std::byte> stored) const;

  // Of the header up to the tag.
  [[nodiscard]] SealTag header_tag(std::span<const std::byte> header) const;
  [[nodiscard]] bool fits_header(std::span<const std::byte> header,
                                 std::span<const std::byte> tag) const;

 private:
  [[nodiscard]] std::vector<std::byte> additional_data(const SectionEntry& section) const;

  Bytes32 key_{};
  Bytes32 front_digest_{};
};

}  // namespace sluice
