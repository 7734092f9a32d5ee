#include "traces/plot/rate_axis.h"

#include <algorithm>
#include <array>

#include "traces/plot/columns.h"

namespace sluice {
namespace {

constexpr double kLogarithmicFrom = 20;
constexpr double kMostRatio = 1e5;  // of a logarithmic axis: what is lower lies at its edge
constexpr double kMargin = 1.15;
constexpr int kAboutTicks = 5;

struct Unit {
  double bps;
  std::string_view name;
};
constexpr std::array<Unit, 5> kUnits{
    {{1e12, "Tbit/s"}, {1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}, {1, "bit/s"}}};

struct Extent {
  double highest = 0, lowest_mean = 0, lowest = 0;  // bit/s; the two lowest above zero
};

void lower_to(DataRate rate, double& lowest) {
  const auto bps = static_cast<double>(rate.bits_per_sec());
  if (bps > 0 && (lowest == 0 || bps < lowest)) lowest = bps;
}

Extent extent_of(std::span<const PlottedLink> links, std::size_t num_columns) {
  Extent extent;
  for (const PlottedLink& link : links) {
    const TraceSummary summary = summarise(*link.trace);
    extent.highest = std::max(extent.highest, static_cast<double>(summary.max.bits_per_sec()));
    lower_to(summary.mean, extent.lowest_mean);
    for (const Column& column : columns_of(*link.trace, num_columns)) {
      lower_to(column.mean, extent.lowest);
      lower_to(column.lowest, extent.lowest);
    }
  }
  return extent;
}

}  // namespace

RateAxis::RateAxis(std::span<const PlottedLink> links, std::size_t num_columns, RateAxisKind kind) {
  const Extent extent = extent_of(links, num_columns);
  const auto* unit = std::find_if(kUnits.begin(), kUnits.end() - 1,
                                  [&](const Unit& u) { return extent.highest >= u.bps; });
  bps_per_unit_ = unit->bps;
  unit_ = unit->name;
  const bool wide = extent.highest > kLogarithmicFrom * extent.lowest_mean;
  logarithmic_ = extent.highest > 0 &&
                 (kind == RateAxisKind::kLogarithmic || (kind == RateAxisKind::kAuto && wide));
  const double high = extent.highest / bps_per_unit_;
  if (logarithmic_) {
    const double low = std::max(extent.lowest, extent.highest / kMostRatio);
    domain_ = {low / bps_per_unit_ / kMargin, high * kMargin};
  } else {
    domain_ = nice_domain(0, high, kAboutTicks);
  }
}

}  // namespace sluice
