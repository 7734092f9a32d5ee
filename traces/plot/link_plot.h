// Link traces as a picture: rate over time and its distribution, one row of panels per trace.
// Where in the flow: step 1, beside `trace inspect`; `trace plot` writes what this returns.
// Surprise: the picture is as large for a million steps as for a thousand. Each pixel column shows
// the lowest, the highest and the mean rate within it.
#pragma once

#include <span>
#include <string>

#include "traces/link_trace.h"

namespace sluice {

struct PlottedLink {
  const LinkTrace* trace = nullptr;
  std::string title;
  std::string origin;  // "read as csv", "made by ou, seed 1, replicate 0"
};

enum class RateAxisKind { kAuto, kLinear, kLogarithmic };

// More traces than this are named in the picture's last line, not drawn.
inline constexpr std::size_t kMaxPlottedLinks = 12;

// An SVG file that refers to nothing outside itself. All panels share the rate axis; names are
// escaped. At least one trace; each passes check_trace().
[[nodiscard]] std::string plot_links(std::span<const PlottedLink> links, RateAxisKind kind);

}  // namespace sluice
