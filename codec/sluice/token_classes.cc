#include "codec/sluice/token_classes.h"

#include <algorithm>
#include <cmath>

#include "codec/sluice/rungs.h"

namespace sluice::ladder {
namespace {

constexpr double kGamma = 0.4;

}  // namespace

std::vector<std::int8_t> token_classes(const UnitOf<TensorView>& unit, std::int64_t first) {
  const auto importance = unit.tensors[0].importance;
  const auto tokens = static_cast<std::size_t>(unit.tokens());
  const auto begin = static_cast<std::size_t>(first);
  std::vector<std::int8_t> classes(tokens - begin, 0);
  if (importance.size() != tokens || classes.empty()) return classes;
  const double floor = 1.0 / static_cast<double>(unit.tensors[0].position(unit.tokens() - 1) + 1);
  double sum = 0;
  std::vector<double> logs;
  for (std::size_t token = begin; token < tokens; ++token) {
    logs.push_back(std::log2(std::max(0.0F, importance[token]) + floor));
    sum += logs.back();
  }
  const double mean = sum / static_cast<double>(logs.size());
  for (std::size_t row = 0; row < classes.size(); ++row) {
    const double k = std::floor(-2 * kGamma * (logs[row] - mean) + 0.5);
    if (k == k)
      classes[row] = static_cast<std::int8_t>(std::clamp<double>(k, kClassLow, kClassHigh));
  }
  return classes;
}

}  // namespace sluice::ladder
