// What all pictures of traces share: measures, colours, and curves over pixel columns.
// Where in the flow: under link_plot.cc and workload_plot.cc.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/drawing/canvas.h"
#include "base/units.h"

namespace sluice {

// In pixels. The panels over time stand left, those of shares right.
inline constexpr double kPictureWidth = 940, kPictureMargin = 14;
inline constexpr double kTimeLeft = 58, kShareLeft = 700;
inline constexpr std::size_t kNumColumns = 560;  // pixel columns of a panel over time
inline constexpr double kPanelHeight = 150;
inline constexpr double kAboveFirstPanel = 86, kBelowPanel = 46, kAboveNextPanel = 24;

[[nodiscard]] constexpr Box time_panel(double top) {
  return {kTimeLeft, top, kTimeLeft + static_cast<double>(kNumColumns), top + kPanelHeight};
}
[[nodiscard]] constexpr Box share_panel(double top) {
  return {kShareLeft, top, kPictureWidth - kPictureMargin, top + kPanelHeight};
}

[[nodiscard]] std::string_view plot_style();

// A bold line and two of small print.
struct PlotHeading {
  std::string title, source, statistics;
};
void draw_heading(const PlotHeading& heading, double top, Canvas& canvas);

// What a pixel column holds, on the vertical axis; nullopt when it holds nothing.
struct ColumnValues {
  double lowest = 0, highest = 0, mean = 0;
};
using PlotColumns = std::span<const std::optional<ColumnValues>>;
// The lowest to the highest value of every column, and the means as a staircase. They begin at
// kTimeLeft and leave out empty columns.
void draw_columns(PlotColumns columns, const Scale& y, Canvas& canvas);

// A dashed line at the mean, named right of the panel.
void draw_mean(double y, const Box& panel, Canvas& canvas);

// Of the share of time, chunks or requests up to a value: values ascend, the last share is 1.
struct SharePoint {
  double value = 0, fraction = 0;
};
// A staircase from zero that runs on to the right edge; steps closer than half a pixel become one.
[[nodiscard]] std::string share_curve(std::span<const SharePoint> points, const Scale& x,
                                      const Scale& y);

// The unit in which an axis of this length has at least three.
struct TimeUnit {
  double ns = 1;
  std::string_view name;
};
[[nodiscard]] TimeUnit time_unit_for(Duration length);
void draw_time_axis(Duration length, const Box& panel, Canvas& canvas);

}  // namespace sluice
