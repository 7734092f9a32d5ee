#include "tests/bench/speed_ceilings.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "codec/container/parallel.h"

namespace sluice::bench {
namespace {

constexpr std::size_t kBytes = std::size_t{64} * 1024 * 1024;
constexpr std::size_t kPage = 4096;

void write_around_caches(std::byte* to, std::size_t num_bytes) {
#ifdef __SSE2__
  const __m128i ones = _mm_set1_epi8(1);
  for (std::size_t i = 0; i < num_bytes; i += sizeof ones)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), ones);
  _mm_sfence();
#else
  std::memset(to, 1, num_bytes);
#endif
}

std::uint64_t sum_of(const std::byte* from, std::size_t num_bytes) {
#ifdef __SSE2__
  __m128i sums[4] = {};
  for (std::size_t i = 0; i < num_bytes; i += sizeof sums) {
    for (std::size_t k = 0; k < 4; ++k) {
      const auto* address = reinterpret_cast<const __m128i*>(from + i) + k;
      sums[k] = _mm_add_epi64(sums[k], _mm_load_si128(address));
    }
  }
  const __m128i sum =
      _mm_add_epi64(_mm_add_epi64(sums[0], sums[1]), _mm_add_epi64(sums[2], sums[3]));
  std::uint64_t halves[2];
  std::memcpy(halves, &sum, sizeof halves);
  return halves[0] + halves[1];
#else
  std::uint64_t sum = 0, word = 0;
  for (std::size_t i = 0; i < num_bytes; i += sizeof word) {
    std::memcpy(&word, from + i, sizeof word);
    sum += word;
  }
  return sum;
#endif
}

// part(offset, bytes) on each thread; parts are whole pages and cover the block.
template <typename Part>
Status in_parts(int cores, Part part) {
  const std::size_t pages = kBytes / kPage;
  const auto count = static_cast<std::size_t>(cores);
  return for_each_index(count, cores, [&](std::size_t i) -> Status {
    const std::size_t begin = pages * i / count * kPage, end = pages * (i + 1) / count * kPage;
    part(begin, end - begin);
    return {};
  });
}

std::byte* touched_block() {
  void* memory = std::aligned_alloc(kPage, kBytes);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 1, kBytes);
  return static_cast<std::byte*>(memory);
}

}  // namespace

void Ceilings::Free::operator()(std::byte* memory) const {
  std::free(memory);
}

Ceilings::Ceilings() : from_(touched_block()), to_(touched_block()) {}

std::size_t Ceilings::num_bytes() {
  return kBytes;
}

Status Ceilings::copy(int cores) {
  return in_parts(cores, [&](std::size_t begin, std::size_t bytes) {
    std::memcpy(to_.get() + begin, from_.get() + begin, bytes);
  });
}

Status Ceilings::streaming_write(int cores) {
  return in_parts(cores, [&](std::size_t begin, std::size_t bytes) {
    write_around_caches(to_.get() + begin, bytes);
  });
}

Status Ceilings::streaming_read(int cores) {
  std::atomic<std::uint64_t> sum{0};
  const Status status = in_parts(cores, [&](std::size_t begin, std::size_t bytes) {
    sum += sum_of(from_.get() + begin, bytes);
  });
  return sum == 0 ? Status{error_in("", "the block was not read", "report this as a bug")} : status;
}

}  // namespace sluice::bench
