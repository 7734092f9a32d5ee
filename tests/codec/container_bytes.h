// Containers made for tests, and bytes of them changed with the checksums made right again.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "codec/container/decode.h"
#include "codec/container/encode.h"

namespace sluice {

using Bytes = std::vector<std::byte>;

// Two layers of 3 and 2 tokens.
[[nodiscard]] KvCache small_cache();

// One layer per section; "int8" or "int8@token".
[[nodiscard]] Bytes encoded(const KvView& view, const std::string& level,
                            EncodeOptions options = {.layers_per_section = 1});

// The line that decoding `file` as made.kvb ends with, or "no error".
[[nodiscard]] std::string error_of(const Bytes& file, const DecodeOptions& options = {});

// The header's checksum computed again, and those of its sections where it can be read.
[[nodiscard]] Bytes with_right_checksums(Bytes file);

// No more than what the file says of itself: does nothing where its size is a lie.
void fix_header_checksum(Bytes& file);

// Overwrites bytes of the header and makes its checksum right again; the sections' stay as they
// are.
[[nodiscard]] Bytes patched(Bytes file, std::size_t at, const auto& value) {
  std::memcpy(file.data() + at, &value, sizeof value);
  fix_header_checksum(file);
  return file;
}

// 00 01 02 … or as many bytes from `first` on.
[[nodiscard]] Bytes32 counting_bytes(int first);

}  // namespace sluice
