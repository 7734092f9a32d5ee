#include <algorithm>
#include <bit>

#include "codec/mixed_sparse/kernel.h"

namespace sluice::mixed_sparse {
namespace {

void put_code(std::int8_t code, std::size_t place, std::byte* bytes) {
  bytes[place / 2] |=
      static_cast<std::byte>((static_cast<unsigned>(code) & 0xFU) << (place % 2 * 4));
}

std::int8_t code_at(const std::byte* bytes, std::size_t place) {
  const int nibble = std::to_integer<int>(bytes[place / 2]) >> (place % 2 * 4) & 0xF;
  return static_cast<std::int8_t>((nibble ^ 8) - 8);
}

bool has_clean_end(const std::byte* bytes, std::size_t num_codes) {
  return num_codes % 2 == 0 || std::to_integer<int>(bytes[num_codes / 2]) >> 4 == 0;
}

}  // namespace

std::size_t count_codes(std::span<const std::int8_t> codes) {
  return codes.size() -
         static_cast<std::size_t>(std::count(codes.begin(), codes.end(), std::int8_t{0}));
}

void put_dense(std::span<const std::int8_t> codes, std::byte* bytes) {
  for (std::size_t c = 0; c < codes.size(); ++c) put_code(codes[c], c, bytes);
}

void put_sparse(std::span<const std::int8_t> codes, std::byte* bytes) {
  std::byte* const packed = bytes + (codes.size() + 7) / 8;
  std::size_t place = 0;
  for (std::size_t c = 0; c < codes.size(); ++c) {
    if (codes[c] == 0) continue;
    bytes[c / 8] |= static_cast<std::byte>(1U << c % 8);
    put_code(codes[c], place++, packed);
  }
}

std::size_t get_dense(std::span<const std::byte> bytes, std::span<std::int8_t> codes) {
  const std::size_t size = dense_bytes(codes.size());
  if (bytes.size() < size || !has_clean_end(bytes.data(), codes.size())) return 0;
  for (std::size_t c = 0; c < codes.size(); ++c) codes[c] = code_at(bytes.data(), c);
  return size;
}

std::size_t get_sparse(std::span<const std::byte> bytes, std::span<std::int8_t> codes) {
  const std::size_t map_bytes = (codes.size() + 7) / 8;
  if (bytes.size() < map_bytes) return 0;
  std::size_t num_codes = 0;
  for (const std::byte b : bytes.first(map_bytes))
    num_codes += static_cast<std::size_t>(std::popcount(std::to_integer<std::uint8_t>(b)));
  const std::size_t used = codes.size() % 8;
  if (used != 0 && std::to_integer<unsigned>(bytes[map_bytes - 1]) >> used != 0) return 0;
  const std::size_t size = sparse_bytes(codes.size(), num_codes);
  const std::byte* const packed = bytes.data() + map_bytes;
  if (bytes.size() < size || !has_clean_end(packed, num_codes)) return 0;
  std::size_t place = 0;
  for (std::size_t c = 0; c < codes.size(); ++c) {
    const bool is_set = (std::to_integer<unsigned>(bytes[c / 8]) >> c % 8 & 1) != 0;
    codes[c] = is_set ? code_at(packed, place++) : std::int8_t{0};
  }
  return size;
}

}  // namespace sluice::mixed_sparse
