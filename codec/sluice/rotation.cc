#include "codec/sluice/rotation.h"

#include <algorithm>
#include <cmath>

#include "codec/sluice/kernel.h"

namespace sluice::ladder {
namespace {

constexpr std::int64_t kFinePositions = 64;  // positions are 64 a + b: few sines, many products

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

// Of every pair at one position.
struct Sines {
  std::vector<double> sines, cosines;
};

Sines sines_at(std::span<const double> frequencies, std::int64_t position, const Kernels& kernels) {
  const std::size_t pairs = frequencies.size();
  Sines of{std::vector<double>(pairs), std::vector<double>(pairs)};
  std::vector<double> angles;
  angles.reserve(pairs);
  for (const double frequency : frequencies)
    angles.push_back(frequency * static_cast<double>(position));
  kernels.sines_of(angles.data(), std::ssize(angles), of.sines.data(), of.cosines.data());
  return of;
}

}  // namespace

SineCosine sine_cosine(double angle) {
  using Rule = SineCosineRule;
  if (!(std::abs(angle) < Rule::kAngleMax)) return {};
  const double quarters = std::floor(angle * Rule::kTwoOverPi + 0.5);
  const double r = (angle - quarters * Rule::kHalfPiHigh) - quarters * Rule::kHalfPiLow;
  const double r2 = r * r;
  double sine = 1, cosine = 1;
  for (int n = Rule::kSineTerms; n >= 2; n -= 2) sine = 1 - sine * r2 / (n * (n - 1));
  for (int n = Rule::kCosineTerms; n >= 2; n -= 2) cosine = 1 - cosine * r2 / (n * (n - 1));
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
                             bool is_undone, Backend backend) {
  RotationTable table;
  table.pairs = rope.rotated_dims / 2;
  const bool is_half = rope.pairing == RopePairing::kHalf;
  table.pairing = {.first = rope.first_rotated_dim,
                   .step = is_half ? 1 : 2,
                   .distance = is_half ? table.pairs : 1};
  const double gain = is_undone ? 1 / rope.attention_factor : rope.attention_factor;
  const Kernels& kernels = kernels_of(backend);
  const std::vector<double> frequencies = frequencies_of(rope);
  std::vector<Sines> fine(kFinePositions);  // made when a position needs them

  const auto pairs = static_cast<std::size_t>(table.pairs);
  table.cosines.resize(positions.size() * pairs);
  table.sines.resize(positions.size() * pairs);
  Sines a;
  std::int64_t coarse_position = -1;
  for (std::size_t row = 0; row < positions.size(); ++row) {
    const std::int64_t position = positions[row];
    const std::int64_t begin = position / kFinePositions * kFinePositions;
    if (begin != coarse_position) a = sines_at(frequencies, coarse_position = begin, kernels);
    Sines& b = fine[static_cast<std::size_t>(position - begin)];
    if (b.sines.empty()) b = sines_at(frequencies, position - begin, kernels);
    for (std::size_t i = 0; i < pairs; ++i) {
      const double cosine = a.cosines[i] * b.cosines[i] - a.sines[i] * b.sines[i];
      const double sine = a.sines[i] * b.cosines[i] + a.cosines[i] * b.sines[i];
      table.cosines[row * pairs + i] = static_cast<float>(cosine * gain);
      table.sines[row * pairs + i] = static_cast<float>(sine * gain);
    }
  }
  return table;
}

std::shared_ptr<const RotationTable> RotationTables::of(const RopeFacts& rope,
                                                        std::span<const std::int64_t> positions,
                                                        Backend backend) {
  constexpr std::size_t kRemembered = 2;
  const auto fits = [&](const Known& known) {
    return known.rope == rope && std::ranges::equal(known.positions, positions);
  };
  const auto found = std::find_if(known_.begin(), known_.end(), fits);
  if (found == known_.end()) {
    if (known_.size() == kRemembered) known_.pop_back();
    auto table =
        std::make_shared<const RotationTable>(rotation_table(rope, positions, is_undone_, backend));
    known_.insert(known_.begin(), {rope, {positions.begin(), positions.end()}, std::move(table)});
  } else {
    std::rotate(known_.begin(), found, found + 1);
  }
  return known_.front().table;
}

}  // namespace sluice::ladder
