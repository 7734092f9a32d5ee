#include "traces/plot/link_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/drawing/canvas.h"
#include "traces/distribution.h"
#include "traces/plot/columns.h"
#include "traces/plot/rate_axis.h"

namespace sluice {
namespace {

// The picture's measures, in pixels.
constexpr double kWidth = 940, kMargin = 14;
constexpr double kTimeLeft = 58, kShareLeft = 700;
constexpr std::size_t kNumColumns = 560;  // pixel columns of the panel over time
constexpr double kHeader = 86, kPlotHeight = 150, kFooter = 46;
constexpr double kPanel = kHeader + kPlotHeight + kFooter;
constexpr double kNotes = 34;
constexpr double kBold = 1.25,
                 kSmall = 1.22;     // bold 13 px is wider than text_width() says, 11 px narrower
constexpr double kPixelStep = 0.5;  // steps of a curve that are closer cannot be told apart
constexpr double kShortestShaded = 0.5 / static_cast<double>(kNumColumns);

constexpr const char* kStyle = R"css(
svg{background:#fff;font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.paper{fill:#fff}
text{fill:#1c1c1c;font-size:12px}
.title{font-size:13px;font-weight:600}
.soft,.tick,.measure{fill:#595959;font-size:11px}
.grid{stroke:#ebebeb}
.axis{stroke:#595959}
.band{fill:#9ec5e8}
.rate{fill:none;stroke:#1f5f99;stroke-width:1.2}
.outage{fill:#b3001b;fill-opacity:.16}
.mean{stroke:#8a5a00;stroke-dasharray:4 3}
.mean-label{fill:#8a5a00;font-size:11px}
.quantile{fill:#1f5f99}
)css";

std::string kind_text(const LinkTrace& trace) {
  return trace.kind == TraceKind::kCapacity ? "capacity" : "achieved throughput";
}

std::string source_line(const PlottedLink& link) {
  constexpr std::size_t kShownDigits = 12;
  const LinkTrace& trace = *link.trace;
  std::string line = fmt::format("{} · {} · {} · {} rows", link.origin, trace.unit,
                                 kind_text(trace), trace.num_rows);
  if (trace.num_skipped > 0) line += fmt::format(", {} skipped", trace.num_skipped);
  return line + " · sha256 " + trace.sha256.substr(0, kShownDigits);
}

std::string statistics_line(const LinkTrace& trace, const RateDistribution& distribution) {
  const TraceSummary summary = summarise(trace);
  std::string line =
      fmt::format("mean {} · CV {:.2f} · p10 {} · median {} · p90 {} · highest {}",
                  to_text(summary.mean), distribution.coefficient_of_variation(),
                  to_text(distribution.quantile(0.1)), to_text(distribution.quantile(0.5)),
                  to_text(distribution.quantile(0.9)), to_text(summary.max));
  if (summary.num_zero_steps == 0) return line + " · never zero";
  const bool timed = trace.clock == TraceClock::kTime;
  line += fmt::format(" · at zero {:.1f} % of the {}", 100 * distribution.zero_fraction(),
                      timed ? "time" : "chunks");
  return timed ? line + fmt::format(", longest {}", to_text(summary.longest_outage)) : line;
}

// What the horizontal axis of a trace counts.
struct TimeUnit {
  double ns;
  std::string_view name;
};

TimeUnit time_unit_of(const LinkTrace& trace) {
  constexpr std::array<TimeUnit, 5> kUnits{
      {{3.6e12, "h"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}};
  const auto length = static_cast<double>(to_ns(trace.length));
  return *std::find_if(kUnits.begin(), kUnits.end() - 1,
                       [&](const TimeUnit& unit) { return length >= 3 * unit.ns; });
}

// The panels of one trace.
class Row {
 public:
  Row(const PlottedLink& link, const RateAxis& axis, double top, Canvas& canvas)
      : link_(&link),
        trace_(link.trace),
        axis_(&axis),
        distribution_(*link.trace),
        over_time_{kTimeLeft, top + kHeader, kTimeLeft + static_cast<double>(kNumColumns),
                   top + kHeader + kPlotHeight},
        shares_{kShareLeft, top + kHeader, kWidth - kMargin, top + kHeader + kPlotHeight},
        top_(top),
        canvas_(&canvas) {}

  void draw() {
    const double width = kWidth - 2 * kMargin;
    canvas_->text_within(width / kBold, {kMargin, top_ + 18}, Anchor::kStart, "title",
                         link_->title);
    canvas_->text_within(width * kSmall, {kMargin, top_ + 33}, Anchor::kStart, "soft",
                         source_line(*link_));
    canvas_->text_within(width * kSmall, {kMargin, top_ + 47}, Anchor::kStart, "soft",
                         statistics_line(*trace_, distribution_));
    draw_rate();
    draw_shares();
  }

 private:
  [[nodiscard]] std::string measure() const {
    return fmt::format("{}{}", axis_->unit(),
                       axis_->logarithmic() ? ", logarithmic, zero at the edge" : "");
  }

  void draw_rate() {
    const Scale y = axis_->along({over_time_.bottom, over_time_.top});
    const double width = over_time_.right - over_time_.left;
    canvas_->y_axis(y, over_time_, 5, measure());
    draw_time_axis();
    for (const Outage& outage : outages_of(*trace_, kShortestShaded)) {
      const double left = over_time_.left + width * outage.begin_fraction;
      const double right = over_time_.left + width * outage.end_fraction;
      canvas_->rectangle({left, over_time_.top, std::max(right, left + 1), over_time_.bottom},
                         "outage");
    }
    const std::vector<Column> columns = columns_of(*trace_, kNumColumns);
    canvas_->path(band(columns, y), "band");
    canvas_->path(staircase(columns, y), "rate");
    const double mean = y.at(axis_->value(summarise(*trace_).mean));
    canvas_->line({over_time_.left, mean}, {over_time_.right, mean}, "mean");
    canvas_->text({over_time_.right + 5, mean + 4}, Anchor::kStart, "mean-label", "mean");
  }

  void draw_time_axis() {
    if (trace_->clock == TraceClock::kTime) {
      const TimeUnit unit = time_unit_of(*trace_);
      const double length = static_cast<double>(to_ns(trace_->length)) / unit.ns;
      canvas_->x_axis(Scale::linear({0, length}, {over_time_.left, over_time_.right}), over_time_,
                      8, fmt::format("time, {}", unit.name));
    } else {
      const auto chunks = static_cast<double>(trace_->steps.size());
      canvas_->x_axis(Scale::linear({0, chunks}, {over_time_.left, over_time_.right}), over_time_,
                      std::min(8, static_cast<int>(chunks)), "chunk of a load");
    }
  }

  [[nodiscard]] double height(const Scale& y, DataRate rate) const {
    return y.at(axis_->value(rate));
  }

  // From the lowest to the highest rate of every column: there along the highest, back along the
  // lowest.
  [[nodiscard]] std::string band(const std::vector<Column>& columns, const Scale& y) const {
    std::string path = fmt::format("M{} {}", position_text(over_time_.left),
                                   position_text(height(y, columns.front().highest)));
    for (std::size_t i = 0; i < columns.size(); ++i)
      path += across(i + 1) + "V" +
              position_text(height(y, columns[std::min(i + 1, columns.size() - 1)].highest));
    for (std::size_t i = columns.size(); i > 0; --i)
      path += "V" + position_text(height(y, columns[i - 1].lowest)) + across(i - 1);
    return path + "Z";
  }

  // The mean of every column; equal neighbours are one stroke.
  [[nodiscard]] std::string staircase(const std::vector<Column>& columns, const Scale& y) const {
    std::string path =
        "M" + position_text(over_time_.left) + " " + position_text(height(y, columns.front().mean));
    for (std::size_t i = 1; i < columns.size(); ++i) {
      if (columns[i].mean == columns[i - 1].mean) continue;
      path += across(i) + "V" + position_text(height(y, columns[i].mean));
    }
    return path + across(columns.size());
  }

  [[nodiscard]] static std::string across(std::size_t column) {
    return "H" + position_text(kTimeLeft + static_cast<double>(column));
  }

  void draw_shares() {
    const Scale x = axis_->along({shares_.left, shares_.right});
    const Scale y = Scale::linear({0, 100}, {shares_.bottom, shares_.top});
    canvas_->x_axis(x, shares_, 4, std::string(axis_->unit()));
    canvas_->y_axis(
        y, shares_, 5,
        trace_->clock == TraceClock::kTime ? "% of the time at most" : "% of the chunks at most");
    canvas_->path(shares_curve(x, y), "rate");
    for (const double fraction : {0.1, 0.5, 0.9}) {
      const DataRate rate = distribution_.quantile(fraction);
      canvas_->circle(
          {x.at(axis_->value(rate)), y.at(100 * fraction)}, 3, "quantile",
          fmt::format("{:.0f} % of the time at most {}", 100 * fraction, to_text(rate)));
    }
    const double mean = x.at(axis_->value(summarise(*trace_).mean));
    canvas_->line({mean, shares_.top}, {mean, shares_.bottom}, "mean");
  }

  [[nodiscard]] std::string shares_curve(const Scale& x, const Scale& y) const {
    const auto points = distribution_.points();
    std::string path =
        "M" + position_text(x.at(axis_->value(points.front().rate))) + " " + position_text(y.at(0));
    for (std::size_t i = 0; i < points.size();) {
      const double at = x.at(axis_->value(points[i].rate));
      while (i < points.size() && x.at(axis_->value(points[i].rate)) < at + kPixelStep) ++i;
      path += "H" + position_text(at) + "V" + position_text(y.at(100 * points[i - 1].fraction));
    }
    return path + "H" + position_text(shares_.right);
  }

  const PlottedLink* link_;
  const LinkTrace* trace_;
  const RateAxis* axis_;
  RateDistribution distribution_;
  Box over_time_, shares_;
  double top_;
  Canvas* canvas_;
};

void draw_notes(std::size_t num_links, double top, Canvas& canvas) {
  std::string note =
      "Line: mean of a pixel column; band: its lowest to its highest rate; shaded: no rate for "
      "half "
      "a column or longer.";
  if (num_links > kMaxPlottedLinks)
    note = fmt::format("{} of {} traces. {}", kMaxPlottedLinks, num_links, note);
  canvas.text({kMargin, top + 14}, Anchor::kStart, "soft", note);
}

}  // namespace

std::string plot_links(std::span<const PlottedLink> links, RateAxisKind kind) {
  const auto drawn = links.first(std::min(links.size(), kMaxPlottedLinks));
  const RateAxis axis(drawn, kNumColumns, kind);
  const double bottom = kPanel * static_cast<double>(drawn.size());
  const Size size{kWidth, bottom + kNotes};
  Canvas canvas = Canvas::standalone(
      size, kStyle,
      fmt::format("Rate over time and its distribution: {}{}", drawn.front().title,
                  links.size() > 1 ? fmt::format(" and {} more", links.size() - 1) : ""));
  canvas.rectangle({0, 0, size.width, size.height}, "paper");
  double top = 0;
  for (const PlottedLink& link : drawn) {
    Row(link, axis, top, canvas).draw();
    top += kPanel;
  }
  draw_notes(links.size(), bottom, canvas);
  return canvas.take();
}

}  // namespace sluice
