#include "codec/raw/avx2.h"

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace sluice::raw::avx2 {

void copy_around_caches(std::byte* to, const std::byte* from, std::size_t num_bytes) {
  constexpr std::size_t kLineBytes = 64;
  constexpr std::size_t kBytesMin = 4096;  // the fence pays off
  const std::size_t past_line = reinterpret_cast<std::uintptr_t>(to) % kLineBytes;
  const std::size_t before = past_line == 0 ? 0 : kLineBytes - past_line;
  if (num_bytes < kBytesMin) {
    std::memcpy(to, from, num_bytes);
    return;
  }
  std::memcpy(to, from, before);
  std::size_t i = before;
  for (; i + kLineBytes <= num_bytes; i += kLineBytes) {
    const auto* source = reinterpret_cast<const __m256i*>(from + i);
    auto* line = reinterpret_cast<__m256i*>(to + i);
    const __m256i low = _mm256_loadu_si256(source);
    const __m256i high = _mm256_loadu_si256(source + 1);
    _mm256_stream_si256(line, low);
    _mm256_stream_si256(line + 1, high);
  }
  std::memcpy(to + i, from + i, num_bytes - i);
  _mm_sfence();
}

}  // namespace sluice::raw::avx2
