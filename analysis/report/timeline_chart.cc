#include "analysis/report/timeline_chart.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

constexpr double kLeft = 76, kTop = 24, kBelow = 40;
constexpr double kHeader = 22, kFinalRow = 12, kStrip = 26, kStripGap = 6, kPanelGap = 16;
constexpr double kBold = 1.15;  // how much wider the panels' titles are than other text
constexpr double kRowsHeight = 120, kRowMin = 3, kRowMax = 12;
// A policy that takes far longer than the others must not flatten them: its panel is cut at the
// right.
constexpr double kCutAtSlos = 3, kCutAtMedians = 1.5;

// Seconds since the load arrived.
double since_arrival(const LoadRecord& load, Instant t) {
  return to_seconds(t - load.arrived_at);
}

Instant last_instant(const LoadRecord& load) {
  Instant last = load.arrived_at;
  for (const auto& t : {load.kv_ready_at, load.first_token_at})
    last = std::max(last, t.value_or(last));
  for (const ChunkRecord& c : load.chunks) {
    for (const auto& t :
         {c.requested_at, c.first_byte_at, c.arrived_at, c.compute_began_at, c.resident_at}) {
      last = std::max(last, t.value_or(last));
    }
  }
  return last;
}

double longest_time_shown(const TimelineChart& chart) {
  std::vector<double> ends;
  double slo = 0;
  for (const TimelinePanel& panel : chart.panels) {
    ends.push_back(since_arrival(*panel.load, last_instant(*panel.load)));
    slo = std::max(slo, to_seconds(panel.load->slo));
  }
  std::sort(ends.begin(), ends.end());
  const double cut = std::max(kCutAtSlos * slo, kCutAtMedians * ends[(ends.size() - 1) / 2]);
  return std::max(std::min(ends.back(), cut), slo) * 1.02;
}

// Absent when it did not take time, as for a chunk of one segment.
std::optional<DataRate> received_rate(const ChunkRecord& chunk) {
  if (!chunk.first_byte_at || !chunk.arrived_at || *chunk.arrived_at <= *chunk.first_byte_at)
    return std::nullopt;
  return mean_rate(chunk.bytes, *chunk.arrived_at - *chunk.first_byte_at);
}

DataRate highest_rate(const TimelineChart& chart) {
  DataRate highest;
  for (const TimelinePanel& panel : chart.panels) {
    for (const ChunkRecord& chunk : panel.load->chunks) {
      highest = std::max(highest, received_rate(chunk).value_or(DataRate::zero()));
    }
  }
  return highest;
}

std::string chunk_title(const LoadRecord& load, const ChunkRecord& chunk) {
  std::string words =
      fmt::format("chunk {}, {} tokens: {}", chunk.index, chunk.tokens, share_name(chunk));
  if (chunk.bytes > DataSize::zero()) words += ", " + to_text(chunk.bytes);
  const auto add = [&](const char* what, const std::optional<Instant>& t) {
    if (t) words += fmt::format("; {} at {:.3f} s", what, since_arrival(load, *t));
  };
  add("asked for", chunk.requested_at);
  add("first byte", chunk.first_byte_at);
  add("last byte", chunk.arrived_at);
  add(chunk.action == ChunkAction::kRecomputed ? "prefill" : "decode", chunk.compute_began_at);
  add("resident", chunk.resident_at);
  return shorten(words + ". " + chunk.reason, 400);
}

class PanelDrawer {
 public:
  PanelDrawer(const TimelineChart& chart, const TimelinePanel& panel, const Scale& x,
              Canvas& canvas)
      : chart_(chart), panel_(panel), load_(*panel.load), x_(x), canvas_(canvas) {}

  void draw_header(double top, Layout layout) {
    const std::string outcome = outcome_text(load_);
    canvas_.rectangle({kLeft, top + 4, kLeft + 10, top + 14}, "swatch " + panel_.colour_class);
    const double room = x_.positions().high - kLeft - 16 - text_width(outcome);
    if (layout == Layout::kWide || room >= kBold * text_width(panel_.policy)) {
      canvas_.text_within(room / kBold, {kLeft + 15, top + 13}, Anchor::kStart, "panel-title",
                          panel_.policy);
      canvas_.text({x_.positions().high, top + 13}, Anchor::kEnd, "value", outcome);
      return;
    }
    canvas_.text_within((x_.positions().high - kLeft - 15) / kBold, {kLeft + 15, top + 13},
                        Anchor::kStart, "panel-title", panel_.policy);
    canvas_.text({x_.positions().high, top + 28}, Anchor::kEnd, "value", outcome);
  }

  void draw_chunks(double top, double row_height) {
    const double bar = row_height > 5 ? row_height - 2 : row_height - 0.5;
    double y = top;
    for (const ChunkRecord& chunk : load_.chunks) {
      draw_chunk(chunk, y, y + bar);
      y += row_height;
    }
    if (load_.chunks.empty()) return;
    canvas_.text({kLeft - 6, top + bar / 2 + 4}, Anchor::kEnd, "tick",
                 fmt::format("chunk {}", load_.chunks.front().index));
    if (load_.chunks.size() > 1 && y - row_height - top >= 12) {
      canvas_.text({kLeft - 6, y - row_height + bar / 2 + 4}, Anchor::kEnd, "tick",
                   fmt::format("{}", load_.chunks.back().index));
    }
  }

  // The pass that makes the first token, and its mark.
  void draw_first_token(double y) {
    if (!load_.first_token_at) return;
    const double at = x_at(*load_.first_token_at);
    if (load_.kv_ready_at) {
      canvas_.rectangle({x_at(*load_.kv_ready_at), y + 3, at, y + 7}, "decode",
                        "from the whole cache to the first token");
    }
    if (is_cut(*load_.first_token_at)) {
      canvas_.text(
          {x_.positions().high, y + 9}, Anchor::kEnd, "tick",
          fmt::format("continues to {:.3f} s ▸", since_arrival(load_, *load_.first_token_at)));
      return;
    }
    canvas_.path(fmt::format("M{0} {1}l5 5l-5 5l-5 -5z", position_text(at), position_text(y)),
                 "token", outcome_text(load_));
  }

  void draw_strip(double top, DataRate highest) {
    if (highest == DataRate::zero()) return;
    const Scale y =
        Scale::linear({0, static_cast<double>(highest.bits_per_sec())}, {top + kStrip, top});
    canvas_.line({kLeft, top}, {x_.positions().high, top}, "grid");
    canvas_.line({kLeft, top + kStrip}, {x_.positions().high, top + kStrip}, "grid");
    canvas_.text({kLeft - 6, top + 4}, Anchor::kEnd, "tick", to_text(highest));
    canvas_.text({kLeft - 6, top + kStrip + 4}, Anchor::kEnd, "tick", "0");
    for (const ChunkRecord& chunk : load_.chunks) {
      const auto rate = received_rate(chunk);
      if (!rate || is_cut(*chunk.first_byte_at)) continue;
      const double height = y.at(static_cast<double>(rate->bits_per_sec()));
      canvas_.rectangle({x_at(*chunk.first_byte_at), height, x_at(*chunk.arrived_at), top + kStrip},
                        "rate-area");
      canvas_.line({x_at(*chunk.first_byte_at), height}, {x_at(*chunk.arrived_at), height}, "rate",
                   fmt::format("chunk {} came at {}", chunk.index, to_text(*rate)));
    }
  }

 private:
  [[nodiscard]] double x_at(Instant t) const { return x_.at(since_arrival(load_, t)); }
  [[nodiscard]] bool is_cut(Instant t) const { return since_arrival(load_, t) > x_.domain().high; }

  void draw_chunk(const ChunkRecord& chunk, double top, double bottom) {
    const std::string title = chunk_title(load_, chunk);
    const double middle = (top + bottom) / 2;
    const auto wait = [&](const std::optional<Instant>& from, const std::optional<Instant>& to) {
      if (from && !is_cut(*from)) {
        canvas_.line({x_at(*from), middle}, {x_at(to.value_or(last_instant(load_))), middle},
                     "wait", title);
      }
    };
    wait(chunk.requested_at, chunk.first_byte_at ? chunk.first_byte_at : chunk.arrived_at);
    if (chunk.first_byte_at && !is_cut(*chunk.first_byte_at)) {
      const Instant end = chunk.arrived_at.value_or(last_instant(load_));
      canvas_.rectangle({x_at(*chunk.first_byte_at), top, x_at(end), bottom},
                        "transfer " + chart_.levels->class_of(chunk.level), title);
    }
    if (chunk.arrived_at)
      wait(chunk.arrived_at, chunk.compute_began_at ? chunk.compute_began_at : chunk.resident_at);
    if (chunk.compute_began_at && !is_cut(*chunk.compute_began_at)) {
      const Instant end = chunk.resident_at.value_or(last_instant(load_));
      const bool recomputed = chunk.action == ChunkAction::kRecomputed;
      canvas_.rectangle({x_at(*chunk.compute_began_at), top, x_at(end), bottom},
                        recomputed ? "transfer recompute" : "decode", title);
    }
  }

  const TimelineChart& chart_;
  const TimelinePanel& panel_;
  const LoadRecord& load_;
  const Scale& x_;
  Canvas& canvas_;
};

struct PanelHeights {
  double row = 0, rows = 0, header = 0, panel = 0;
};

PanelHeights panel_heights(const TimelineChart& chart, Layout layout, bool with_strip) {
  std::size_t num_chunks = 1;
  for (const TimelinePanel& panel : chart.panels)
    num_chunks = std::max(num_chunks, panel.load->chunks.size());
  PanelHeights heights;
  heights.row = std::clamp(kRowsHeight / static_cast<double>(num_chunks), kRowMin, kRowMax);
  heights.header = layout == Layout::kWide ? kHeader : kHeader + 14;
  heights.rows = heights.row * static_cast<double>(num_chunks);
  heights.panel =
      heights.header + heights.rows + kFinalRow + (with_strip ? kStripGap + kStrip : 0) + kPanelGap;
  return heights;
}

}  // namespace

std::string outcome_text(const LoadRecord& load) {
  if (const auto ttft = load.ttft(); ttft && load.outcome == LoadOutcome::kCompleted) {
    return fmt::format("first token after {:.3f} s, {}", to_seconds(*ttft),
                       load.violated() ? "late" : "in time");
  }
  return load.outcome == LoadOutcome::kFailed ? "failed" : "no first token";
}

std::string draw(const TimelineChart& chart, Layout layout) {
  const DataRate highest = highest_rate(chart);
  const PanelHeights heights = panel_heights(chart, layout, highest > DataRate::zero());
  const Box plot{kLeft, kTop, width_of(layout) - 14,
                 kTop + heights.panel * static_cast<double>(chart.panels.size()) - kPanelGap + 6};
  Canvas canvas = chart_canvas(layout, plot.bottom + kBelow, chart.description);
  if (chart.panels.empty()) return canvas.take();
  const Scale x = Scale::linear({0, longest_time_shown(chart)}, {plot.left, plot.right});
  canvas.x_axis(x, plot, layout == Layout::kWide ? 10 : 5, "time since the load arrived, s");
  const auto for_each_panel = [&](const auto& draw_part) {
    double top = plot.top;
    for (const TimelinePanel& panel : chart.panels) {
      draw_part(PanelDrawer(chart, panel, x, canvas), top);
      top += heights.panel;
    }
  };
  for_each_panel([&](PanelDrawer drawer, double top) {
    const double rows_top = top + heights.header;
    drawer.draw_chunks(rows_top, heights.row);
    drawer.draw_strip(rows_top + heights.rows + kFinalRow + kStripGap, highest);
  });
  const Duration slo = chart.panels.front().load->slo;
  canvas.marker_line(x.at(to_seconds(slo)), plot, "slo", "SLO " + to_text(slo));
  // Over the line, so that it does not strike words out.
  for_each_panel([&](PanelDrawer drawer, double top) {
    drawer.draw_header(top, layout);
    drawer.draw_first_token(top + heights.header + heights.rows);
  });
  return canvas.take();
}

}  // namespace sluice
