#include "analysis/report/ttft_chart.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr double kLogarithmicFrom = 20;
constexpr double kLegendRow = 19, kPlotHeightWide = 320, kPlotHeightNarrow = 230;
constexpr double kTop = 36, kLeft = 38, kBelowPlot = 52;
constexpr double kSample = 30;  // length of a legend's line
constexpr double kPixelStep =
    0.5;  // steps of a curve that are closer than this cannot be told apart
constexpr std::size_t kMaxSloLines = 3;

struct Times {
  double shortest = 0, longest = 0;  // seconds, SLOs included
};

Times times_in(const TtftChart& chart) {
  std::vector<double> seconds;
  for (const Duration slo : chart.slos) seconds.push_back(to_seconds(slo));
  for (const TtftCurve& curve : chart.curves) {
    if (curve.finished.empty()) continue;
    seconds.push_back(to_seconds(curve.finished.front()));
    seconds.push_back(to_seconds(curve.finished.back()));
  }
  if (seconds.empty()) return {0, 1};
  const auto [low, high] = std::minmax_element(seconds.begin(), seconds.end());
  return {*low, *high};
}

Scale time_scale(const TtftChart& chart, Range positions, int about_ticks) {
  const Times times = times_in(chart);
  if (times.shortest > 0 && times.longest / times.shortest > kLogarithmicFrom) {
    return Scale::logarithmic({times.shortest / 1.15, times.longest * 1.15}, positions);
  }
  return Scale::linear(nice_domain(0, times.longest * 1.02, about_ticks), positions);
}

// A staircase; several steps within half a pixel become one. It ends at the last first token, or,
// where loads have none, runs on to the edge.
std::string staircase(const TtftCurve& curve, const Scale& x, const Scale& y) {
  const auto height_after = [&](std::size_t num_finished) {
    return y.at(100 * static_cast<double>(num_finished) / static_cast<double>(curve.num_loads));
  };
  std::string commands =
      "M" + position_text(x.at(to_seconds(curve.finished.front()))) + " " + position_text(y.at(0));
  for (std::size_t i = 0; i < curve.finished.size();) {
    const double at = x.at(to_seconds(curve.finished[i]));
    while (i < curve.finished.size() && x.at(to_seconds(curve.finished[i])) < at + kPixelStep) ++i;
    commands += "H" + position_text(at) + "V" + position_text(height_after(i));
  }
  const bool all_finished = static_cast<std::int64_t>(curve.finished.size()) == curve.num_loads;
  return all_finished ? commands : commands + "H" + position_text(x.positions().high);
}

std::size_t rows_in_legend(const TtftChart& chart, std::size_t num_columns) {
  return std::max<std::size_t>(1, (chart.curves.size() + num_columns - 1) / num_columns);
}

// Below the plot, in `num_columns` columns from top to bottom, left to right.
void draw_legend(const TtftChart& chart, double top, double picture_width, std::size_t num_columns,
                 Canvas& canvas) {
  const std::size_t num_rows = rows_in_legend(chart, num_columns);
  const double pitch = picture_width / static_cast<double>(num_columns), width = pitch - 14;
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const TtftCurve& curve = chart.curves[i];
    const Point at{4 + pitch * static_cast<double>(i / num_rows),
                   top + kLegendRow * static_cast<double>(i % num_rows + 1)};
    if (i % num_rows == 0)
      canvas.text({at.x + width, top}, Anchor::kEnd, "measure", chart.legend_title);
    const double value_width = text_width(curve.value_text) + 10;
    canvas.line({at.x, at.y - 4}, {at.x + kSample, at.y - 4},
                "curve " + curve.colour_class + " " + curve.dash_class);
    canvas.text_within(width - kSample - 8 - value_width, {at.x + kSample + 8, at.y},
                       Anchor::kStart, "label", curve.policy);
    canvas.text({at.x + width, at.y}, Anchor::kEnd, "value", curve.value_text);
  }
}

}  // namespace

std::string draw(const TtftChart& chart, Layout layout) {
  const bool wide = layout == Layout::kWide;
  const std::size_t num_columns = wide && chart.curves.size() > 1 ? 2 : 1;
  const double width = width_of(layout);
  const Box plot{kLeft, kTop, width - 14, kTop + (wide ? kPlotHeightWide : kPlotHeightNarrow)};
  const int about_ticks = wide ? 8 : 5;
  const Scale x = time_scale(chart, {plot.left, plot.right}, about_ticks);
  const Scale y = Scale::linear({0, 100}, {plot.bottom, plot.top});
  const double legend_top = plot.bottom + kBelowPlot;
  Canvas canvas = chart_canvas(
      layout, legend_top + kLegendRow * static_cast<double>(rows_in_legend(chart, num_columns)) + 8,
      chart.description);
  canvas.x_axis(x, plot, about_ticks, "time to first token, s");
  canvas.y_axis(y, plot, 5, "% of loads");
  if (chart.slos.size() <= kMaxSloLines) {
    for (const Duration slo : chart.slos) {
      canvas.marker_line(x.at(to_seconds(slo)), plot, "slo", "SLO " + to_text(slo));
    }
  }
  for (const TtftCurve& curve : chart.curves) {
    if (curve.finished.empty()) continue;
    canvas.path(staircase(curve, x, y), "curve " + curve.colour_class + " " + curve.dash_class,
                curve.policy);
  }
  draw_legend(chart, legend_top, width, num_columns, canvas);
  return canvas.take();
}

}  // namespace sluice
