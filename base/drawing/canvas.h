// One SVG picture: shapes by class, text that fits, axes. Colours, fonts and line widths live in
// the style sheet: that of the page around it, or its own when it is a file by itself.
// Where in the flow: the report's charts and `trace plot` draw on it. Positions are CSS pixels at
// full width, y downwards.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/drawing/markup.h"
#include "base/drawing/scale.h"

namespace sluice {

struct Point {
  double x = 0, y = 0;
};
struct Size {
  double width = 0, height = 0;
};
struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
};

enum class Anchor { kStart, kMiddle, kEnd };

// About how wide `text` is in the charts' font, and what of it fits into `width`. Errs on the wide
// side.
[[nodiscard]] double text_width(std::string_view text);
[[nodiscard]] std::string fit_text(std::string_view text, double width);

// A position with a tenth of a pixel.
[[nodiscard]] std::string position_text(double position);

class Canvas {
 public:
  // Within a page, which styles `classes`. `description` is what a reader who does not see the
  // picture is told.
  Canvas(Size size, std::string_view classes, const std::string& description);
  // A file by itself, as large as `size` unless something scales it.
  [[nodiscard]] static Canvas standalone(Size size, std::string_view style_sheet,
                                         const std::string& description);

  // `title` is shown while the pointer rests on the shape; nothing else depends on it.
  void line(Point from, Point to, std::string_view classes, std::string_view title = {});
  void rectangle(Box box, std::string_view classes, std::string_view title = {});
  void circle(Point centre, double radius, std::string_view classes, std::string_view title = {});
  // `commands`: the d attribute.
  void path(std::string_view commands, std::string_view classes, std::string_view title = {});
  // The baseline is at `at`.
  void text(Point at, Anchor anchor, std::string_view classes, std::string_view text);
  // Cut to `width`; what was cut is in the tooltip.
  void text_within(double width, Point at, Anchor anchor, std::string_view classes,
                   std::string_view text);

  // Vertical grid lines at the ticks of `x` over the plot, their numbers below it, and what they
  // measure below those.
  void x_axis(const Scale& x, const Box& plot, int about_ticks, std::string_view measure);
  // Horizontal grid lines, their numbers left of the plot, and what they measure above it.
  void y_axis(const Scale& y, const Box& plot, int about_ticks, std::string_view measure);
  // A vertical line through the plot with its label above, kept inside the picture.
  void marker_line(double x, const Box& plot, std::string_view classes, std::string_view label);

  [[nodiscard]] std::string take();

 private:
  Canvas(double width, Markup begun) : width_(width), out_(std::move(begun)) {}
  void shape(std::string_view tag, Markup::Attributes attributes, std::string_view title);

  double width_;
  Markup out_;
};

}  // namespace sluice
