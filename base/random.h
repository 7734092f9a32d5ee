// Seeded random numbers with distributions of our own, so that a seed means the same draws
// everywhere.
// Where in the flow: trace generators, workloads, bootstrap. Streams are keyed by (seed, purpose,
// index), never by policy: all policies meet the same arrivals, lengths and links (common random
// numbers).
// Surprise: std:: distributions differ between standard libraries; do not use them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice {

// xoshiro256++ (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2021),
// seeded by SplitMix64.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed);
  // An independent stream for one purpose of one replicate: same key, same draws.
  RandomStream(std::uint64_t seed, std::string_view purpose, std::uint64_t index);

  [[nodiscard]] std::uint64_t next_u64();
  // Uniform in [0, 1), 53 random bits.
  [[nodiscard]] double uniform();
  // Uniform in [low, high).
  [[nodiscard]] double uniform(double low, double high);
  // Uniform integer in [0, bound), without bias (Lemire 2019). bound > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  // Exponential with the given mean > 0.
  [[nodiscard]] double exponential(double mean);
  // Normal by Box-Muller; two uniforms per draw, none kept back.
  [[nodiscard]] double normal(double mean, double standard_deviation);
  [[nodiscard]] bool bernoulli(double probability) { return uniform() < probability; }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace sluice
