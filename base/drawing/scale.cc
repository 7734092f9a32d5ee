#include "base/drawing/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace sluice {
namespace {

// Ticks are multiples of a step; a rounding error must neither lose the last one nor print as
// 0.30000000000000004.
constexpr double kSlack = 1e-9;

double nice_step(Range domain, int about) {
  return round_up_to_nice((domain.high - domain.low) / std::max(about, 1) * (1 - kSlack));
}

std::vector<double> linear_ticks(Range domain, int about) {
  const double step = nice_step(domain, about);
  std::vector<double> ticks;
  const double first = std::ceil(domain.low / step - kSlack),
               last = std::floor(domain.high / step + kSlack);
  for (double k = first; k <= last; ++k) ticks.push_back(k * step + 0.0);
  return ticks;
}

std::vector<double> logarithmic_ticks(Range domain, int about) {
  const double decades = std::log10(domain.high / domain.low);
  const bool with_two_and_five = decades * 3 <= about + 1;
  // Many decades: only every n-th power.
  const int every = std::max(1, static_cast<int>(std::ceil(decades / std::max(about, 1))));
  std::vector<double> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(domain.low)));
       power <= std::log10(domain.high) + 1; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && !with_two_and_five) continue;
      if (factor == 1 && power % every != 0) continue;
      const double tick = factor * std::pow(10.0, power);
      if (tick >= domain.low * (1 - kSlack) && tick <= domain.high * (1 + kSlack))
        ticks.push_back(tick);
    }
  }
  return ticks;
}

}  // namespace

double Scale::at(double value) const {
  const auto share = [&] {
    if (logarithmic_) {
      if (value <= domain_.low) return 0.0;
      return std::log(value / domain_.low) / std::log(domain_.high / domain_.low);
    }
    return (value - domain_.low) / (domain_.high - domain_.low);
  };
  return positions_.low + std::clamp(share(), 0.0, 1.0) * (positions_.high - positions_.low);
}

std::vector<double> Scale::ticks(int about) const {
  return logarithmic_ ? logarithmic_ticks(domain_, about) : linear_ticks(domain_, about);
}

double round_up_to_nice(double value) {
  SLUICE_ASSERT(value > 0 && std::isfinite(value), "a nice number is asked for above zero");
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (value <= factor * power * (1 + kSlack)) return factor * power;
  }
  return 10 * power;
}

Range nice_domain(double low, double high, int about_ticks) {
  low = std::min(low, 0.0);
  high = std::max(high, 0.0);
  if (high - low <= 0) high = 1;
  const double step = nice_step({low, high}, about_ticks);
  return {std::floor(low / step + kSlack) * step, std::ceil(high / step - kSlack) * step};
}

std::string tick_text(double value) {
  const std::string digits = fmt::format("{:.6g}", std::abs(value));
  return value < 0 ? "−" + digits : digits;
}

}  // namespace sluice
