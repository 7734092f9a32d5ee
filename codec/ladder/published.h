// What the literature reports: points in the plane of size and quality, with their sources.
// Where in the flow: codec/profiles/published/points.json, beside our own
// rungs in table and plot.
// Surprise: quality comes in four measures that cannot be turned into one another; each has its own
// panel.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice {

enum class PublishedMeasure { kKlMean, kDeltaPplPercent, kTop1Percent, kScoreKeptPercent };

struct PublishedPoint {
  std::string codec, model;
  double bits_per_element = 0;
  PublishedMeasure measure = PublishedMeasure::kKlMean;
  double value = 0;  // nats, or percent
  std::optional<double>
      megabytes;       // 10^6 bytes of the published context, where a size was reported
  std::string beside;  // codec@level of ours that does the same; may be empty
  std::string source;
};

struct PublishedPoints {
  std::string context_model;  // geometry of the context that `megabytes` are of
  std::int64_t context_tokens = 0;
  std::vector<PublishedPoint> points;
};

[[nodiscard]] Result<PublishedPoints> read_published_points(const std::filesystem::path& file);
// The shipped file.
[[nodiscard]] Result<PublishedPoints> published_points();
[[nodiscard]] std::string to_text(PublishedMeasure measure);

}  // namespace sluice
