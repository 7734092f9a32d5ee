#include "traces/plot/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sluice {
namespace {

// Bold 13 px is wider than text_width() says, 11 px narrower.
constexpr double kBold = 1.25, kSmall = 1.22;
constexpr double kPixelStep = 0.5;

std::string across(std::size_t column) {
  return "H" + position_text(kTimeLeft + static_cast<double>(column));
}
std::string up_to(double y) {
  return "V" + position_text(y);
}

// There along the highest values of the columns first to last, back along the lowest.
std::string band(PlotColumns columns, std::size_t first, std::size_t last, const Scale& y) {
  std::string path = fmt::format("M{} {}", position_text(kTimeLeft + static_cast<double>(first)),
                                 position_text(y.at(columns[first]->highest)));
  for (std::size_t i = first; i <= last; ++i)
    path += up_to(y.at(columns[i]->highest)) + across(i + 1);
  for (std::size_t i = last + 1; i > first; --i)
    path += up_to(y.at(columns[i - 1]->lowest)) + across(i - 1);
  return path + "Z";
}

// Equal neighbours are one stroke.
std::string staircase(PlotColumns columns, std::size_t first, std::size_t last, const Scale& y) {
  std::string path = fmt::format("M{} {}", position_text(kTimeLeft + static_cast<double>(first)),
                                 position_text(y.at(columns[first]->mean)));
  for (std::size_t i = first + 1; i <= last; ++i) {
    if (columns[i]->mean == columns[i - 1]->mean) continue;
    path += across(i) + up_to(y.at(columns[i]->mean));
  }
  return path + across(last + 1);
}

}  // namespace

std::string_view plot_style() {
  return R"css(
svg{background:#fff;font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.paper{fill:#fff}
text{fill:#1c1c1c;font-size:12px}
.title{font-size:13px;font-weight:600}
.soft,.tick,.measure{fill:#595959;font-size:11px}
.grid{stroke:#ebebeb}
.axis{stroke:#595959}
.band{fill:#9ec5e8}
.curve{fill:none;stroke:#1f5f99;stroke-width:1.2}
.second{stroke:#b3541e;stroke-dasharray:5 2}
.outage{fill:#b3001b;fill-opacity:.16}
.mean{stroke:#8a5a00;stroke-dasharray:4 3}
.mean-label{fill:#8a5a00;font-size:11px}
.quantile{fill:#1f5f99}
)css";
}

void draw_heading(const PlotHeading& heading, double top, Canvas& canvas) {
  const double width = kPictureWidth - 2 * kPictureMargin;
  canvas.text_within(width / kBold, {kPictureMargin, top + 18}, Anchor::kStart, "title",
                     heading.title);
  canvas.text_within(width * kSmall, {kPictureMargin, top + 33}, Anchor::kStart, "soft",
                     heading.source);
  canvas.text_within(width * kSmall, {kPictureMargin, top + 47}, Anchor::kStart, "soft",
                     heading.statistics);
}

void draw_columns(PlotColumns columns, const Scale& y, Canvas& canvas) {
  std::string bands, stairs;
  for (std::size_t first = 0; first < columns.size(); ++first) {
    if (!columns[first]) continue;
    std::size_t last = first;
    while (last + 1 < columns.size() && columns[last + 1]) ++last;
    bands += band(columns, first, last, y);
    stairs += staircase(columns, first, last, y);
    first = last;
  }
  canvas.path(bands, "band");
  canvas.path(stairs, "curve");
}

void draw_mean(double y, const Box& panel, Canvas& canvas) {
  canvas.line({panel.left, y}, {panel.right, y}, "mean");
  canvas.text({panel.right + 5, y + 4}, Anchor::kStart, "mean-label", "mean");
}

std::string share_curve(std::span<const SharePoint> points, const Scale& x, const Scale& y) {
  std::string path =
      fmt::format("M{} {}", position_text(x.at(points.front().value)), position_text(y.at(0)));
  for (std::size_t i = 0; i < points.size();) {
    const double at = x.at(points[i].value);
    while (i < points.size() && x.at(points[i].value) < at + kPixelStep) ++i;
    path += "H" + position_text(at) + up_to(y.at(100 * points[i - 1].fraction));
  }
  return path + "H" + position_text(x.positions().high);
}

TimeUnit time_unit_for(Duration length) {
  static constexpr std::array<TimeUnit, 5> kUnits{
      {{3.6e12, "h"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}};
  const auto ns = static_cast<double>(to_ns(length));
  return *std::find_if(kUnits.begin(), kUnits.end() - 1,
                       [&](const TimeUnit& unit) { return ns >= 3 * unit.ns; });
}

void draw_time_axis(Duration length, const Box& panel, Canvas& canvas) {
  const TimeUnit unit = time_unit_for(length);
  canvas.x_axis(
      Scale::linear({0, static_cast<double>(to_ns(length)) / unit.ns}, {panel.left, panel.right}),
      panel, 8, fmt::format("time, {}", unit.name));
}

}  // namespace sluice
