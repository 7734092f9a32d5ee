// Every chart is drawn twice, wide and narrow, and the style sheet shows the one that fits: a wide
// chart scaled down to a phone could not be read.
#pragma once

#include <string>

#include "base/drawing/canvas.h"

namespace sluice {

enum class Layout { kWide, kNarrow };
inline constexpr double kWideWidth = 940;
inline constexpr double kNarrowWidth = 400;
[[nodiscard]] constexpr double width_of(Layout layout) {
  return layout == Layout::kWide ? kWideWidth : kNarrowWidth;
}

[[nodiscard]] inline Canvas chart_canvas(Layout layout, double height,
                                         const std::string& description) {
  return {{width_of(layout), height},
          layout == Layout::kWide ? "chart wide" : "chart narrow",
          description};
}

// `draw(layout)` for both widths, in a figure.
template <typename Draw>
[[nodiscard]] std::string both_layouts(const Draw& draw) {
  return draw(Layout::kWide) + draw(Layout::kNarrow);
}

}  // namespace sluice
