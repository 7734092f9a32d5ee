// The containers' checksum: zlib's CRC-32, by carry-less multiplication where the CPU has it.
// Where in the flow: every byte of every section passes here once on each side, so zlib's tables
// alone would be slower than the codecs. Surprise: long inputs are folded to 16 bytes with the same
// remainder (Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction", Intel, 2009), and zlib computes the CRC of those.
#include <zlib.h>

#include "codec/container/header.h"

#if SLUICE_AVX2
#include <immintrin.h>
#endif

namespace sluice {
namespace {

std::uint32_t crc32_by_table(std::uint32_t crc, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

#if SLUICE_AVX2

// x^power modulo the polynomial, bits reversed, in 33 bits: what moves a reversed 64-bit half by
// that power.
constexpr std::uint64_t reversed_power(int power) {
  std::uint64_t rest = 1;
  for (int i = 0; i < power; ++i) {
    rest <<= 1;
    if ((rest >> 32) != 0) rest ^= 0x104C11DB7;
  }
  std::uint64_t reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (rest >> bit & 1) << (31 - bit);
  return reversed << 1;
}

constexpr int kLaneBits = 128;
constexpr std::size_t kLaneBytes = 16;
constexpr std::size_t kBlockBytes = 4 * kLaneBytes;
constexpr std::size_t kFoldedBytesMin = 4 * kBlockBytes;  // below, zlib is as fast

// What moves both halves of a lane past `bits` bits.
__m128i fold_constants(int bits) {
  return _mm_set_epi64x(static_cast<std::int64_t>(reversed_power(bits - 32)),
                        static_cast<std::int64_t>(reversed_power(bits + 32)));
}

__attribute__((target("pclmul"))) __m128i folded(__m128i lane, __m128i constants, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(lane, constants, 0x00);
  const __m128i high = _mm_clmulepi64_si128(lane, constants, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

__m128i lane_at(std::span<const std::byte> bytes, std::size_t at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + at));
}

// At least kBlockBytes.
__attribute__((target("pclmul"))) std::uint32_t crc32_by_folding(std::span<const std::byte> bytes) {
  static const __m128i past_four = fold_constants(4 * kLaneBits);
  static const __m128i past_one = fold_constants(kLaneBits);
  __m128i lanes[4];
  for (std::size_t i = 0; i < 4; ++i) lanes[i] = lane_at(bytes, i * kLaneBytes);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(-1));  // the initial value
  std::size_t at = kBlockBytes;
  for (; at + kBlockBytes <= bytes.size(); at += kBlockBytes) {
    for (std::size_t i = 0; i < 4; ++i)
      lanes[i] = folded(lanes[i], past_four, lane_at(bytes, at + i * kLaneBytes));
  }
  __m128i lane = lanes[0];
  for (std::size_t i = 1; i < 4; ++i) lane = folded(lane, past_one, lanes[i]);
  std::byte rest[kLaneBytes];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), lane);
  constexpr std::uint32_t kFromZero = 0xFFFFFFFF;  // zlib inverts it
  return crc32_by_table(crc32_by_table(kFromZero, rest), bytes.subspan(at));
}

#endif

}  // namespace

std::uint32_t crc32_of(std::span<const std::byte> bytes) {
#if SLUICE_AVX2
  static const bool has_clmul = __builtin_cpu_supports("pclmul");
  if (has_clmul && bytes.size() >= kFoldedBytesMin) return crc32_by_folding(bytes);
#endif
  return crc32_by_table(0, bytes);
}

}  // namespace sluice
