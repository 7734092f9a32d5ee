#include "codec/ladder/published.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/assert.h"
#include "base/files.h"
#include "base/json_reader.h"
#include "base/names.h"

namespace sluice {
namespace {

constexpr std::string_view kFormat = "sluice-published-points-1";
constexpr DataSize kMaxFileSize = DataSize::bytes(4 << 20);

constexpr std::array<std::pair<PublishedMeasure, const char*>, 4> kMeasures{
    {{PublishedMeasure::kKlMean, "kl-mean"},
     {PublishedMeasure::kDeltaPplPercent, "delta-ppl-percent"},
     {PublishedMeasure::kTop1Percent, "top1-percent"},
     {PublishedMeasure::kScoreKeptPercent, "score-kept-percent"}}};

PublishedMeasure read_measure(JsonReader& in) {
  const std::string text = in.text("measure");
  std::vector<std::string> known;
  for (const auto& [measure, name] : kMeasures) {
    if (text == name) return measure;
    known.emplace_back(name);
  }
  if (!text.empty()) in.fail("measure", fmt::format("is `{}`", text), suggest_name(text, known));
  return PublishedMeasure::kKlMean;
}

PublishedPoint read_point(JsonReader& in) {
  PublishedPoint point;
  point.codec = in.text("codec");
  point.model = in.text("model");
  point.bits_per_element = in.number("bits_per_element", {0.01, 64});
  point.measure = read_measure(in);
  point.value = in.number("value", {-100, 1000});
  if (in.has("megabytes")) point.megabytes = in.number("megabytes", {0, 1e9});
  point.beside = in.optional_text("beside");
  point.source = in.text("source");
  return point;
}

}  // namespace

Result<PublishedPoints> read_published_points(const std::filesystem::path& file) {
  const auto text = read_file(file, kMaxFileSize);
  if (!text) return text.error();
  auto parsed = JsonReader::parse(*text, file.string());
  if (!parsed) return parsed.error();
  JsonReader& in = *parsed;
  in.expect_format(kFormat);
  PublishedPoints published;
  published.context_model = in.text("context_model");
  published.context_tokens = in.integer("context_tokens", {1, std::int64_t{1} << 40});
  for (JsonReader& point : in.objects("points")) published.points.push_back(read_point(point));
  if (const Status status = in.finish(); !status) return status.error();
  return published;
}

Result<PublishedPoints> published_points() {
  const auto home = sluice_home();
  if (!home) return home.error();
  return read_published_points(*home / "codec" / "profiles" / "published" / "points.json");
}

std::string to_text(PublishedMeasure measure) {
  for (const auto& [known, name] : kMeasures) {
    if (known == measure) return name;
  }
  SLUICE_ASSERT(false, "a published measure without a name");
}

}  // namespace sluice
