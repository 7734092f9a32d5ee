#include "base/drawing/canvas.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

constexpr double kCharacterWidth =
    7.2;  // of the 12 px sans-serif of the charts, names in lower case
constexpr double kAxisNumberDrop = 15, kAxisMeasureDrop = 31;

std::size_t num_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string view_box(Size size) {
  return fmt::format("0 0 {} {}", position_text(size.width), position_text(size.height));
}

std::string anchor_text(Anchor anchor) {
  switch (anchor) {
    case Anchor::kStart:
      return "start";
    case Anchor::kMiddle:
      return "middle";
    case Anchor::kEnd:
      return "end";
  }
  return "start";
}

}  // namespace

double text_width(std::string_view text) {
  return kCharacterWidth * static_cast<double>(num_characters(text));
}

std::string fit_text(std::string_view text, double width) {
  return shorten(text, static_cast<std::size_t>(std::max(1.0, width / kCharacterWidth)));
}

std::string position_text(double position) {
  std::string text = fmt::format("{:.1f}", position);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

Canvas::Canvas(Size size, std::string_view classes, const std::string& description)
    : width_(size.width) {
  out_.open("svg", {{"class", std::string(classes)},
                    {"viewBox", view_box(size)},
                    {"role", "img"},
                    {"aria-label", description}});
}

Canvas Canvas::standalone(Size size, std::string_view style_sheet, const std::string& description) {
  Markup out;
  out.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                   {"width", position_text(size.width)},
                   {"height", position_text(size.height)},
                   {"viewBox", view_box(size)},
                   {"role", "img"},
                   {"aria-label", description}});
  out.leaf("style", style_sheet);
  return {size.width, std::move(out)};
}

void Canvas::shape(std::string_view tag, Markup::Attributes attributes, std::string_view title) {
  if (title.empty()) {
    out_.empty(tag, attributes);
  } else {
    out_.open(tag, attributes).leaf("title", title).close();
  }
}

void Canvas::line(Point from, Point to, std::string_view classes, std::string_view title) {
  shape("line",
        {{"class", std::string(classes)},
         {"x1", position_text(from.x)},
         {"y1", position_text(from.y)},
         {"x2", position_text(to.x)},
         {"y2", position_text(to.y)}},
        title);
}

void Canvas::rectangle(Box box, std::string_view classes, std::string_view title) {
  shape("rect",
        {{"class", std::string(classes)},
         {"x", position_text(box.left)},
         {"y", position_text(box.top)},
         {"width", position_text(std::max(box.right - box.left, 0.0))},
         {"height", position_text(std::max(box.bottom - box.top, 0.0))}},
        title);
}

void Canvas::circle(Point centre, double radius, std::string_view classes, std::string_view title) {
  shape("circle",
        {{"class", std::string(classes)},
         {"cx", position_text(centre.x)},
         {"cy", position_text(centre.y)},
         {"r", position_text(radius)}},
        title);
}

void Canvas::path(std::string_view commands, std::string_view classes, std::string_view title) {
  shape("path", {{"class", std::string(classes)}, {"d", std::string(commands)}}, title);
}

void Canvas::text(Point at, Anchor anchor, std::string_view classes, std::string_view text) {
  out_.leaf("text",
            {{"class", std::string(classes)},
             {"x", position_text(at.x)},
             {"y", position_text(at.y)},
             {"text-anchor", anchor_text(anchor)}},
            text);
}

void Canvas::text_within(double width, Point at, Anchor anchor, std::string_view classes,
                         std::string_view whole) {
  const std::string fitting = fit_text(whole, width);
  out_.open("text", {{"class", std::string(classes)},
                     {"x", position_text(at.x)},
                     {"y", position_text(at.y)},
                     {"text-anchor", anchor_text(anchor)}});
  out_.text(fitting);
  if (fitting != whole) out_.leaf("title", whole);
  out_.close();
}

void Canvas::x_axis(const Scale& x, const Box& plot, int about_ticks, std::string_view measure) {
  for (const double tick : x.ticks(about_ticks)) {
    line({x.at(tick), plot.top}, {x.at(tick), plot.bottom}, "grid");
    text({x.at(tick), plot.bottom + kAxisNumberDrop}, Anchor::kMiddle, "tick", tick_text(tick));
  }
  line({plot.left, plot.bottom}, {plot.right, plot.bottom}, "axis");
  text({(plot.left + plot.right) / 2, plot.bottom + kAxisMeasureDrop}, Anchor::kMiddle, "measure",
       measure);
}

void Canvas::y_axis(const Scale& y, const Box& plot, int about_ticks, std::string_view measure) {
  for (const double tick : y.ticks(about_ticks)) {
    line({plot.left, y.at(tick)}, {plot.right, y.at(tick)}, "grid");
    text({plot.left - 6, y.at(tick) + 4}, Anchor::kEnd, "tick", tick_text(tick));
  }
  text({plot.left, plot.top - 22}, Anchor::kStart, "measure", measure);
}

void Canvas::marker_line(double x, const Box& plot, std::string_view classes,
                         std::string_view label) {
  line({x, plot.top}, {x, plot.bottom}, classes);
  const double half = text_width(label) / 2;
  const double middle =
      std::clamp(x, std::min(half, width_ / 2), std::max(width_ - half, width_ / 2));
  text({middle, plot.top - 6}, Anchor::kMiddle, "marker-label", label);
}

std::string Canvas::take() {
  out_.close();
  return out_.take();
}

}  // namespace sluice
