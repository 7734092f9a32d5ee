#include "analysis/report/whisker_chart.h"

#include <algorithm>

namespace sluice {
namespace {

// Wide: label, plot and value side by side. Narrow: label and value on lines above the whisker.
struct Arrangement {
  double row_height, whisker_y;  // whisker_y from the row's top
  double label_right, label_y, label_width;
  double plot_left, plot_right;
  int about_ticks;
};

constexpr double kTop = 8, kBelow = 42, kCap = 4, kMaxLabel = 300;

Arrangement arrange(const WhiskerChart& chart, Layout layout) {
  if (layout == Layout::kWide) {
    double label_width = 0, value_width = 0;
    for (const WhiskerRow& row : chart.rows) {
      label_width = std::min(std::max(label_width, text_width(row.label)), kMaxLabel);
      value_width = std::max(value_width, text_width(row.value_text));
    }
    return {.row_height = 26,
            .whisker_y = 13,
            .label_right = label_width + 2,
            .label_y = 17,
            .label_width = label_width,
            .plot_left = label_width + 14,
            .plot_right = kWideWidth - value_width - 14,
            .about_ticks = 8};
  }
  return {.row_height = 56,
          .whisker_y = 42,
          .label_right = 0,
          .label_y = 14,
          .label_width = kNarrowWidth - 26,
          .plot_left = 12,
          .plot_right = kNarrowWidth - 14,
          .about_ticks = 5};
}

// Shares begin at zero and end on a tick; where both signs occur the ends need not be round.
Range domain_of(const WhiskerChart& chart, int about_ticks) {
  double low = -chart.band, high = chart.band;
  for (const WhiskerRow& row : chart.rows) {
    low = std::min({low, row.interval.low, row.value});
    high = std::max({high, row.interval.high, row.value});
  }
  if (low >= 0) return nice_domain(low, high, about_ticks);
  const double margin = 0.04 * (high - low);
  return {low - margin, high + margin};
}

void draw_row(const WhiskerRow& row, double top, const Scale& x, const Arrangement& a,
              Layout layout, Canvas& canvas) {
  const double y = top + a.whisker_y;
  const std::string line_classes = "whisker " + row.colour_class;
  const double low = x.at(row.interval.low), high = x.at(row.interval.high);
  canvas.line({low, y}, {high, y}, line_classes);
  for (const double end : {low, high}) canvas.line({end, y - kCap}, {end, y + kCap}, line_classes);
  canvas.circle({x.at(row.value), y}, 4.5,
                (row.is_reference ? "dot hollow " : "dot ") + row.colour_class,
                row.label + ": " + row.value_text);
  if (layout == Layout::kWide) {
    canvas.text_within(a.label_width, {a.label_right, top + a.label_y}, Anchor::kEnd, "label",
                       row.label);
    canvas.text({a.plot_right + 14, top + a.label_y}, Anchor::kStart, "value", row.value_text);
  } else {
    canvas.text_within(a.label_width, {a.plot_left, top + a.label_y}, Anchor::kStart, "label",
                       row.label);
    canvas.text({a.plot_left, top + a.label_y + 15}, Anchor::kStart, "value", row.value_text);
  }
}

}  // namespace

std::string draw(const WhiskerChart& chart, Layout layout) {
  const Arrangement a = arrange(chart, layout);
  const Box plot{a.plot_left, kTop, a.plot_right,
                 kTop + a.row_height * static_cast<double>(chart.rows.size())};
  const Scale x = Scale::linear(domain_of(chart, a.about_ticks), {plot.left, plot.right});
  Canvas canvas = chart_canvas(layout, plot.bottom + kBelow, chart.description);
  if (chart.band > 0) {
    canvas.rectangle({x.at(-chart.band), plot.top, x.at(chart.band), plot.bottom}, "band");
  }
  canvas.x_axis(x, plot, a.about_ticks, chart.measure);
  if (x.domain().low < 0) canvas.line({x.at(0), plot.top}, {x.at(0), plot.bottom}, "zero");
  if (chart.reference_line) {
    canvas.line({x.at(*chart.reference_line), plot.top}, {x.at(*chart.reference_line), plot.bottom},
                "reference");
  }
  double top = plot.top;
  for (const WhiskerRow& row : chart.rows) {
    draw_row(row, top, x, a, layout, canvas);
    top += a.row_height;
  }
  return canvas.take();
}

}  // namespace sluice
