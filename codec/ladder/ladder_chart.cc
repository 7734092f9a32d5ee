#include "codec/ladder/ladder_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/drawing/canvas.h"

namespace sluice {
namespace {

constexpr double kWidth = 1100, kMargin = 16, kLeft = 62, kGap = 78;
constexpr double kPanelHeight = 300, kAbovePanel = 58, kBelowPanel = 44, kTitle = 26;
constexpr double kLegendRow = 20;
constexpr std::size_t kLegendColumns = 3, kColours = 8, kShapes = 3;
constexpr double kLowestKl = 1e-5, kLowestPpl = 0.01;

constexpr std::string_view kStyle = R"css(
svg{background:#fff;font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.paper{fill:#fff}
text{fill:#1c1c1c;font-size:12px}
.title{font-size:14px;font-weight:600}
.soft,.tick,.measure{fill:#595959;font-size:11px}
.grid{stroke:#ebebeb}
.axis{stroke:#595959}
.published{stroke:#1c1c1c;stroke-width:1.6;fill:none}
.note{fill:#404040;font-size:10px}
.curve{fill:none;stroke-width:1.8}
.curve.p1{stroke-dasharray:6 3}
.curve.p2{stroke-dasharray:2 3}
.mark{stroke:#fff;stroke-width:.8}
.k0{stroke:#0072b2}.k1{stroke:#d55e00}.k2{stroke:#009e73}.k3{stroke:#b0609a}
.k4{stroke:#8a6d00}.k5{stroke:#3a9bd0}.k6{stroke:#6b4fa0}.k7{stroke:#5f6b75}
.f0{fill:#0072b2}.f1{fill:#d55e00}.f2{fill:#009e73}.f3{fill:#b0609a}
.f4{fill:#8a6d00}.f5{fill:#3a9bd0}.f6{fill:#6b4fa0}.f7{fill:#5f6b75}
)css";

// One of the four panels.
struct Panel {
  std::string measure;
  PublishedMeasure published;
  Range domain;
  bool is_logarithmic;
  // Of a rung; absent: the panel holds published points alone.
  std::function<double(const JudgedContinuation&)> value;
};

std::vector<Panel> panels() {
  return {{"mean KL, nats (logarithmic; the edge is 0.00001 and less)",
           PublishedMeasure::kKlMean,
           {kLowestKl, 1},
           true,
           [](const JudgedContinuation& judged) { return judged.kl.mean; }},
          {"change of perplexity, % (logarithmic; the edge is 0.01 and less)",
           PublishedMeasure::kDeltaPplPercent,
           {kLowestPpl, 100},
           true,
           [](const JudgedContinuation& judged) { return judged.delta_ppl_percent.mean; }},
          {"same most probable token, % of positions",
           PublishedMeasure::kTop1Percent,
           {70, 100},
           false,
           [](const JudgedContinuation& judged) { return 100 * judged.top1.mean; }},
          {"published alone: task score kept, %",
           PublishedMeasure::kScoreKeptPercent,
           {90, 100},
           false,
           {}}};
}

std::string colour_of(std::size_t series) {
  return std::to_string(series % kColours);
}
std::size_t shape_of(std::size_t series) {
  return series / kColours % kShapes;
}

// A circle, a square or a triangle.
void draw_mark(Point at, std::size_t series, const std::string& title, Canvas& canvas) {
  constexpr double kRadius = 4;
  const std::string classes = "mark f" + colour_of(series);
  if (shape_of(series) == 0) return canvas.circle(at, kRadius, classes, title);
  if (shape_of(series) == 1) {
    return canvas.rectangle({at.x - kRadius, at.y - kRadius, at.x + kRadius, at.y + kRadius},
                            classes, title);
  }
  canvas.path(
      fmt::format("M{} {}L{} {}L{} {}Z", position_text(at.x), position_text(at.y - kRadius - 1),
                  position_text(at.x + kRadius + 1), position_text(at.y + kRadius),
                  position_text(at.x - kRadius - 1), position_text(at.y + kRadius)),
      classes, title);
}

std::string curve_classes(std::size_t series) {
  return fmt::format("curve k{} p{}", colour_of(series), shape_of(series));
}

// Labels that would cover one another move down.
class Labels {
 public:
  [[nodiscard]] double place(double left, double y, double width) {
    constexpr double kLine = 11;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Box& box : taken_) {
        if (left < box.right && box.left < left + width && std::abs(y - box.top) < kLine) {
          y = box.top + kLine;
          moved = true;
        }
      }
    }
    taken_.push_back({left, y, left + width, y});
    return y;
  }

 private:
  std::vector<Box> taken_;
};

class PanelDrawing {
 public:
  PanelDrawing(const Panel& panel, Box box, Range bits, Canvas& canvas)
      : panel_(&panel),
        box_(box),
        x_(Scale::logarithmic(bits, {box.left, box.right})),
        y_(panel.is_logarithmic ? Scale::logarithmic(panel.domain, {box.bottom, box.top})
                                : Scale::linear(panel.domain, {box.bottom, box.top})),
        canvas_(&canvas) {}

  void draw(const Ladder& ladder, const PublishedPoints& published) {
    canvas_->y_axis(y_, box_, 6, panel_->measure);
    canvas_->x_axis(x_, box_, 8, "bits per element, every byte counted (logarithmic)");
    for (std::size_t i = 0; panel_->value && i < ladder.series.size(); ++i)
      draw_series(ladder.series[i], i);
    for (const PublishedPoint& point : published.points) {
      if (point.measure == panel_->published) draw_published(point);
    }
  }

 private:
  [[nodiscard]] Point position(double bits, double value) const {
    return {x_.at(bits), y_.at(std::max(value, panel_->domain.low))};
  }

  void draw_series(const LadderSeries& series, std::size_t index) {
    std::string commands;
    std::vector<Point> points;
    for (const Rung& rung : series.rungs) {
      points.push_back(
          position(rung.facts.bits_per_element, panel_->value(rung.facts.judged->same_document)));
      commands += fmt::format("{}{} {}", commands.empty() ? "M" : "L",
                              position_text(points.back().x), position_text(points.back().y));
    }
    if (points.size() > 1) canvas_->path(commands, curve_classes(index));
    for (std::size_t i = 0; i < points.size(); ++i) {
      const LevelFacts& facts = series.rungs[i].facts;
      draw_mark(points[i], index,
                fmt::format("{} {}: {:.2f} bit, {:.5g}", series.name(), facts.level,
                            facts.bits_per_element, panel_->value(facts.judged->same_document)),
                *canvas_);
    }
  }

  // A cross with its name beside it, on the side where there is room.
  void draw_published(const PublishedPoint& point) {
    constexpr double kArm = 4, kBeside = 7, kSmall = 0.9;
    const Point at = position(point.bits_per_element, point.value);
    const std::string title =
        fmt::format("{}, {}: {:.2f} bit, {:.4g}; {}", point.codec, point.model,
                    point.bits_per_element, point.value, point.source);
    canvas_->path(fmt::format("M{0} {2}L{1} {3}M{0} {3}L{1} {2}", position_text(at.x - kArm),
                              position_text(at.x + kArm), position_text(at.y - kArm),
                              position_text(at.y + kArm)),
                  "published", title);
    const double width = kSmall * text_width(point.codec);
    const bool is_left = at.x + kBeside + width > box_.right;
    const double left = is_left ? at.x - kBeside - width : at.x + kBeside;
    const double y = labels_.place(left, at.y + 3.5, width);
    canvas_->text({is_left ? at.x - kBeside : at.x + kBeside, y},
                  is_left ? Anchor::kEnd : Anchor::kStart, "note", point.codec);
  }

  const Panel* panel_;
  Box box_;
  Scale x_, y_;
  Canvas* canvas_;
  Labels labels_;
};

// Round ends around all that is drawn.
Range bits_in(const Ladder& ladder, const PublishedPoints& published) {
  double low = 1, high = 2;
  for (const LadderSeries& series : ladder.series) {
    low = std::min(low, series.rungs.back().facts.bits_per_element);
    high = std::max(high, series.rungs.front().facts.bits_per_element);
  }
  for (const PublishedPoint& point : published.points) {
    low = std::min(low, point.bits_per_element);
    high = std::max(high, point.bits_per_element);
  }
  return {low / 1.15, high * 1.15};
}

std::size_t legend_rows(std::size_t num_series) {
  return (num_series + 1 + kLegendColumns - 1) / kLegendColumns;
}

void draw_legend(const Ladder& ladder, double top, Canvas& canvas) {
  constexpr double kSample = 30;
  const std::size_t num_rows = legend_rows(ladder.series.size());
  const double pitch = (kWidth - 2 * kMargin) / static_cast<double>(kLegendColumns);
  for (std::size_t i = 0; i <= ladder.series.size(); ++i) {
    const Point at{kMargin + pitch * static_cast<double>(i / num_rows),
                   top + kLegendRow * static_cast<double>(i % num_rows)};
    const Point sample{at.x + kSample / 2, at.y - 4};
    const bool is_published = i == ladder.series.size();
    if (is_published) {
      canvas.path(fmt::format("M{0} {2}L{1} {3}M{0} {3}L{1} {2}", position_text(sample.x - 4),
                              position_text(sample.x + 4), position_text(sample.y - 4),
                              position_text(sample.y + 4)),
                  "published");
    } else {
      canvas.line({at.x, sample.y}, {at.x + kSample, sample.y}, curve_classes(i));
      draw_mark(sample, i, "", canvas);
    }
    canvas.text_within(
        pitch - kSample - 20, {at.x + kSample + 8, at.y}, Anchor::kStart, "label",
        is_published ? "published, other models and tasks" : ladder.series[i].name());
  }
}

}  // namespace

std::string draw_ladder(const Ladder& ladder, const PublishedPoints& published) {
  const double row = kAbovePanel + kPanelHeight + kBelowPanel;
  const double legend_top = kTitle + 2 * row + 16;
  const double height =
      legend_top + kLegendRow * static_cast<double>(legend_rows(ladder.series.size()));
  Canvas canvas = Canvas::standalone(
      {kWidth, height}, kStyle,
      fmt::format("Bits per element against damage for {} codecs", ladder.series.size()));
  canvas.rectangle({0, 0, kWidth, height}, "paper");
  canvas.text({kMargin, kTitle}, Anchor::kStart, "title",
              fmt::format("Rate and distortion of KV-cache codecs on {}: the same document goes on",
                          ladder.series.front().rungs.front().model));
  const Range bits = bits_in(ladder, published);
  const double width = (kWidth - 2 * kLeft - kGap + kLeft - kMargin) / 2;
  const std::vector<Panel> all = panels();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double left = kLeft + static_cast<double>(i % 2) * (width + kGap);
    const double top = kTitle + static_cast<double>(i / 2) * row + kAbovePanel;
    PanelDrawing(all[i], {left, top, left + width, top + kPanelHeight}, bits, canvas)
        .draw(ladder, published);
  }
  draw_legend(ladder, legend_top, canvas);
  return canvas.take();
}

}  // namespace sluice
