#include "traces/plot/link_plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/distribution.h"
#include "traces/plot/columns.h"
#include "traces/plot/panel.h"
#include "traces/plot/rate_axis.h"

namespace sluice {
namespace {

constexpr double kRow = kAboveFirstPanel + kPanelHeight + kBelowPanel;
constexpr double kNotes = 34;
constexpr double kShortestShaded = 0.5 / static_cast<double>(kNumColumns);

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

// The panels of one trace.
class Row {
 public:
  Row(const PlottedLink& link, const RateAxis& axis, double top, Canvas& canvas)
      : link_(&link),
        trace_(link.trace),
        axis_(&axis),
        distribution_(*link.trace),
        mean_(summarise(*link.trace).mean),
        top_(top),
        canvas_(&canvas) {}

  void draw() {
    draw_heading({link_->title, source_line(*link_), statistics_line(*trace_, distribution_)}, top_,
                 *canvas_);
    draw_rate(time_panel(top_ + kAboveFirstPanel));
    draw_shares(share_panel(top_ + kAboveFirstPanel));
  }

 private:
  [[nodiscard]] bool timed() const { return trace_->clock == TraceClock::kTime; }

  void draw_rate(const Box& panel) {
    const Scale y = axis_->along({panel.bottom, panel.top});
    canvas_->y_axis(y, panel, 5,
                    fmt::format("{}{}", axis_->unit(),
                                axis_->logarithmic() ? ", logarithmic, zero at the edge" : ""));
    if (timed()) {
      draw_time_axis(trace_->length, panel, *canvas_);
    } else {
      const auto chunks = static_cast<double>(trace_->steps.size());
      canvas_->x_axis(Scale::linear({0, chunks}, {panel.left, panel.right}), panel,
                      std::min(8, static_cast<int>(chunks)), "chunk of a load");
    }
    const double width = panel.right - panel.left;
    for (const Outage& outage : outages_of(*trace_, kShortestShaded)) {
      const double left = panel.left + width * outage.begin_fraction;
      const double right = panel.left + width * outage.end_fraction;
      canvas_->rectangle({left, panel.top, std::max(right, left + 1), panel.bottom}, "outage");
    }
    std::vector<std::optional<ColumnValues>> columns;
    for (const Column& c : columns_of(*trace_, kNumColumns)) {
      columns.push_back({{axis_->value(c.lowest), axis_->value(c.highest), axis_->value(c.mean)}});
    }
    draw_columns(columns, y, *canvas_);
    draw_mean(y.at(axis_->value(mean_)), panel, *canvas_);
  }

  void draw_shares(const Box& panel) {
    const Scale x = axis_->along({panel.left, panel.right});
    const Scale y = Scale::linear({0, 100}, {panel.bottom, panel.top});
    canvas_->x_axis(x, panel, 4, axis_->unit());
    canvas_->y_axis(y, panel, 5, timed() ? "% of the time at most" : "% of the chunks at most");
    std::vector<SharePoint> points;
    for (const RateDistribution::Point& point : distribution_.points())
      points.push_back({axis_->value(point.rate), point.fraction});
    canvas_->path(share_curve(points, x, y), "curve");
    for (const double fraction : {0.1, 0.5, 0.9}) {
      const DataRate rate = distribution_.quantile(fraction);
      canvas_->circle({x.at(axis_->value(rate)), y.at(100 * fraction)}, 3, "quantile",
                      fmt::format("{:.0f} % at most {}", 100 * fraction, to_text(rate)));
    }
    const double mean = x.at(axis_->value(mean_));
    canvas_->line({mean, panel.top}, {mean, panel.bottom}, "mean");
  }

  const PlottedLink* link_;
  const LinkTrace* trace_;
  const RateAxis* axis_;
  RateDistribution distribution_;
  DataRate mean_;
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
  canvas.text({kPictureMargin, top + 14}, Anchor::kStart, "soft", note);
}

}  // namespace

std::string plot_links(std::span<const PlottedLink> links, RateAxisKind kind) {
  const auto drawn = links.first(std::min(links.size(), kMaxPlottedLinks));
  const RateAxis axis(drawn, kNumColumns, kind);
  const double bottom = kRow * static_cast<double>(drawn.size());
  const Size size{kPictureWidth, bottom + kNotes};
  Canvas canvas = Canvas::standalone(
      size, plot_style(),
      fmt::format("Rate over time and its distribution: {}{}", drawn.front().title,
                  links.size() > 1 ? fmt::format(" and {} more", links.size() - 1) : ""));
  canvas.rectangle({0, 0, size.width, size.height}, "paper");
  double top = 0;
  for (const PlottedLink& link : drawn) {
    Row(link, axis, top, canvas).draw();
    top += kRow;
  }
  draw_notes(links.size(), bottom, canvas);
  return canvas.take();
}

}  // namespace sluice
