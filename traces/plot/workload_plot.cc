#include "traces/plot/workload_plot.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

constexpr double kNotes = 34;
constexpr double kMargin = 1.15;  // of the logarithmic axis of lengths

double num_panels(const WorkloadShape& shape) {
  return shape.length ? 2 : 1;
}

double row_height(const WorkloadShape& shape) {
  return kAboveFirstPanel + (kPanelHeight + kBelowPanel) * num_panels(shape) +
         kAboveNextPanel * (num_panels(shape) - 1);
}

std::string source_line(const WorkloadSummary& s) {
  constexpr std::size_t kShownDigits = 12;
  std::string line = fmt::format("read as {} · {} request{}", s.reader, s.num_requests,
                                 s.num_requests == 1 ? "" : "s");
  if (s.num_skipped() > 0) line += fmt::format(", {} rows skipped", s.num_skipped());
  line += s.duration ? fmt::format(" in {}", to_text(*s.duration)) : ", no times";
  return line + " · sha256 " + s.sha256.substr(0, kShownDigits);
}

std::string lengths_text(const TokenCounts& counts, std::int64_t num, const LengthShares& shares) {
  return fmt::format("mean {:.0f}, median {}, p90 {}, most {}",
                     counts.sum / static_cast<double>(num), shares.quantile(0.5),
                     shares.quantile(0.9), counts.max);
}

std::string statistics_line(const WorkloadShape& shape) {
  const WorkloadSummary& s = shape.summary;
  std::string line = "input tokens: " + lengths_text(s.input, s.num_requests, shape.input);
  if (s.output)
    line += " · output tokens: " + lengths_text(*s.output, s.num_requests, shape.output);
  if (const auto reuse = s.block_reuse_fraction())
    line += fmt::format(" · {:.1f} % of the blocks reused", 100 * *reuse);
  return line;
}

// Both axes of the panel over time, the vertical one from zero to what the columns reach.
Scale draw_axes(const WorkloadShape& shape, double highest, std::string_view measure,
                const Box& panel, Canvas& canvas) {
  const Scale y = Scale::linear(nice_domain(0, highest, 5), {panel.bottom, panel.top});
  canvas.y_axis(y, panel, 5, measure);
  if (shape.length) {
    draw_time_axis(*shape.length, panel, canvas);
  } else {
    canvas.x_axis(Scale::linear({0, static_cast<double>(shape.summary.num_requests)},
                                {panel.left, panel.right}),
                  panel, 8, "request");
  }
  return y;
}

void draw_requests(const WorkloadShape& shape, const Box& panel, Canvas& canvas) {
  const double column_s = to_seconds(*shape.length) / static_cast<double>(shape.requests.size());
  std::vector<std::optional<ColumnValues>> rates;
  double highest = 0;
  for (const std::int64_t count : shape.requests) {
    const double rate = static_cast<double>(count) / column_s;
    rates.push_back({{0, rate, rate}});
    highest = std::max(highest, rate);
  }
  const Scale y = draw_axes(shape, highest, "requests per second", panel, canvas);
  draw_columns(rates, y, canvas);
  const auto num = static_cast<double>(shape.summary.num_requests);
  draw_mean(y.at(num / to_seconds(*shape.length)), panel, canvas);
}

void draw_lengths(const WorkloadShape& shape, const Box& panel, Canvas& canvas) {
  const TokenCounts& input = shape.summary.input;
  const Scale y =
      draw_axes(shape, static_cast<double>(input.max), "input tokens of a request", panel, canvas);
  draw_columns(shape.input_tokens, y, canvas);
  draw_mean(y.at(input.sum / static_cast<double>(shape.summary.num_requests)), panel, canvas);
}

void draw_shares(const WorkloadShape& shape, const Box& panel, Canvas& canvas) {
  const std::vector<SharePoint> input = shape.input.points(), output = shape.output.points();
  double lowest = input.front().value, highest = input.back().value;
  if (!output.empty()) {
    lowest = std::min(lowest, output.front().value);
    highest = std::max(highest, output.back().value);
  }
  lowest = std::max(lowest, 1.0);
  const Scale x = Scale::logarithmic({lowest / kMargin, std::max(highest, lowest) * kMargin},
                                     {panel.left, panel.right});
  const Scale y = Scale::linear({0, 100}, {panel.bottom, panel.top});
  canvas.x_axis(x, panel, 4,
                output.empty() ? "input tokens" : "input tokens; dashed: output tokens");
  canvas.y_axis(y, panel, 5, "% of the requests at most");
  if (!output.empty()) canvas.path(share_curve(output, x, y), "curve second");
  canvas.path(share_curve(input, x, y), "curve");
}

void draw_row(const PlottedWorkload& workload, double top, Canvas& canvas) {
  const WorkloadShape& shape = workload.shape;
  draw_heading({workload.title, source_line(shape.summary), statistics_line(shape)}, top, canvas);
  double panel_top = top + kAboveFirstPanel;
  draw_shares(shape, share_panel(panel_top), canvas);
  if (shape.length) {
    draw_requests(shape, time_panel(panel_top), canvas);
    panel_top += kPanelHeight + kBelowPanel + kAboveNextPanel;
  }
  draw_lengths(shape, time_panel(panel_top), canvas);
}

}  // namespace

std::string plot_workloads(std::span<const PlottedWorkload> workloads) {
  Size size{kPictureWidth, kNotes};
  for (const PlottedWorkload& workload : workloads) size.height += row_height(workload.shape);
  Canvas canvas = Canvas::standalone(
      size, plot_style(),
      fmt::format("Requests and their lengths: {}{}", workloads.front().title,
                  workloads.size() > 1 ? fmt::format(" and {} more", workloads.size() - 1) : ""));
  canvas.rectangle({0, 0, size.width, size.height}, "paper");
  double top = 0;
  for (const PlottedWorkload& workload : workloads) {
    draw_row(workload, top, canvas);
    top += row_height(workload.shape);
  }
  canvas.text({kPictureMargin, top + 14}, Anchor::kStart, "soft",
              "Line: mean of a pixel column; band: its shortest to its longest request; gaps: no "
              "request. Medians and p90 are at most 1.1 % too high.");
  return canvas.take();
}

}  // namespace sluice
