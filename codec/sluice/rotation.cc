#include "codec/sluice/rotation.h"

#include <cmath>

namespace sluice::ladder {
namespace {

constexpr std::int64_t kFinePositions = 64;  // positions are 64 a + b: few sines, many products

constexpr double kAngleMax = 1U << 30;  // no model turns further; a file may say so

// The largest r with r^power >= 1 / theta, by bisection: the same on every host.
double root_of_inverse(double theta, std::int64_t power) {
  if (!(theta > 1)) return 1;
  double low = 0, high = 1;
  for (int i = 0; i < 128; ++i) {
    const double middle = 0.5 * (low + high);
    double product = 1;
    for (std::int64_t factor = 0; factor < power; ++factor) product *= middle;
    (product * theta >= 1 ? high : low) = middle;
  }
  return high;
}

// Radian per token of each pair: the model's own, or theta^(-2 i / rotated).
std::vector<double> frequencies_of(const RopeFacts& rope) {
  const std::int64_t pairs = rope.rotated_dims / 2;
  if (std::ssize(rope.inv_freq) == pairs) return rope.inv_freq;
  const double ratio = root_of_inverse(rope.theta, pairs);
  std::vector<double> frequencies;
  double frequency = 1;
  for (std::int64_t i = 0; i < pairs; ++i, frequency *= ratio) frequencies.push_back(frequency);
  return frequencies;
}

std::vector<SineCosine> sines_of(std::span<const double> frequencies, std::int64_t position) {
  std::vector<SineCosine> sines;
  sines.reserve(frequencies.size());
  for (const double frequency : frequencies)
    sines.push_back(sine_cosine(frequency * static_cast<double>(position)));
  return sines;
}

}  // namespace

SineCosine sine_cosine(double angle) {
  // pi / 2 in two parts, the first short enough for exact products with small whole numbers.
  constexpr double kHalfPiHigh = 1.57079632673412561417, kHalfPiLow = 6.07710050650619224932e-11;
  constexpr double kTwoOverPi = 0.636619772367581343076;
  if (!(std::abs(angle) < kAngleMax)) return {};
  const double quarters = std::floor(angle * kTwoOverPi + 0.5);
  const double r = (angle - quarters * kHalfPiHigh) - quarters * kHalfPiLow;
  const double r2 = r * r;
  double sine = 1, cosine = 1;  // Taylor's series up to r^15 and r^16; |r| < 0.8
  for (int n = 15; n >= 3; n -= 2) sine = 1 - sine * r2 / (n * (n - 1));
  for (int n = 16; n >= 2; n -= 2) cosine = 1 - cosine * r2 / (n * (n - 1));
  sine *= r;
  switch (static_cast<std::int64_t>(quarters) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

bool is_rotated(const SectionContext& context, TensorKind kind, const RopeFacts* rope,
                std::int64_t dim) {
  if (!context.keys_are_rotated || kind == TensorKind::kValue || rope == nullptr) return false;
  if (rope->pairing == RopePairing::kUnknown || rope->rotated_dims < 2) return false;
  const std::int64_t last = rope->first_rotated_dim + rope->rotated_dims / 2 * 2;
  return rope->attention_factor != 0 && last <= dim;
}

RotationTable rotation_table(const RopeFacts& rope, std::span<const std::int64_t> positions,
                             bool is_undone) {
  RotationTable table;
  table.pairs = rope.rotated_dims / 2;
  const bool is_half = rope.pairing == RopePairing::kHalf;
  table.pairing = {.first = rope.first_rotated_dim,
                   .step = is_half ? 1 : 2,
                   .distance = is_half ? table.pairs : 1};
  const double gain = is_undone ? 1 / rope.attention_factor : rope.attention_factor;
  const std::vector<double> frequencies = frequencies_of(rope);
  std::vector<std::vector<SineCosine>> fine(kFinePositions);  // made when a position needs them

  const auto pairs = static_cast<std::size_t>(table.pairs);
  table.cosines.reserve(positions.size() * pairs);
  table.sines.reserve(positions.size() * pairs);
  std::vector<SineCosine> coarse;
  std::int64_t coarse_position = -1;
  for (const std::int64_t position : positions) {
    const std::int64_t begin = position / kFinePositions * kFinePositions;
    if (begin != coarse_position) coarse = sines_of(frequencies, coarse_position = begin);
    auto& rest = fine[static_cast<std::size_t>(position - begin)];
    if (rest.empty()) rest = sines_of(frequencies, position - begin);
    for (std::size_t i = 0; i < pairs; ++i) {
      const SineCosine a = coarse[i], b = rest[i];
      table.cosines.push_back(static_cast<float>((a.cosine * b.cosine - a.sine * b.sine) * gain));
      table.sines.push_back(static_cast<float>((a.sine * b.cosine + a.cosine * b.sine) * gain));
    }
  }
  return table;
}

}  // namespace sluice::ladder
