#include "base/random.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/assert.h"

namespace sluice {
namespace {

std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// FNV-1a over the purpose, then mixed with seed and index one after the other.
std::uint64_t key_of(std::uint64_t seed, std::string_view purpose, std::uint64_t index) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : purpose) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  std::uint64_t state = seed;
  std::uint64_t key = split_mix(state);
  state = key ^ hash;
  key = split_mix(state);
  state = key ^ index;
  return split_mix(state);
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed) {
  std::uint64_t s = seed;
  for (std::uint64_t& word : state_) word = split_mix(s);
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view purpose, std::uint64_t index)
    : RandomStream(key_of(seed, purpose, index)) {}

std::uint64_t RandomStream::next_u64() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double RandomStream::uniform() {
  return static_cast<double>(next_u64() >> 11) * 0x1.0p-53;
}

double RandomStream::uniform(double low, double high) {
  return low + (high - low) * uniform();
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  SLUICE_ASSERT(bound > 0, "a draw below zero values");
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{next_u64()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = Wide{next_u64()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double RandomStream::exponential(double mean) {
  return -mean * std::log1p(-uniform());
}

double RandomStream::normal(double mean, double standard_deviation) {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  return mean + standard_deviation * radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace sluice
