// A rate with a given distribution and a correlation in time: a normal value wanders, and the rate
// is the quantile of the share of time at which that value stands. Surprise: the correlation is
// that of the normal value; the rate's own is a little lower, the more so the more skewed its
// distribution.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/parse.h"
#include "traces/generators/gaussian_walk.h"
#include "traces/generators/generator.h"

namespace sluice {
namespace {

using Point = QuantilesSpec::Point;
constexpr std::size_t kMaxPoints = 64;

double normal_share(double value) {
  return std::erfc(-value / std::numbers::sqrt2) / 2;
}

// The rate at a share of the time, on the line between its neighbours.
DataRate quantile(const std::vector<Point>& points, double share) {
  const auto above = std::upper_bound(points.begin() + 1, points.end() - 1, share,
                                      [](double s, const Point& p) { return s < p.fraction; });
  const Point& low = *(above - 1);
  const double part = (share - low.fraction) / (above->fraction - low.fraction);
  const auto from = static_cast<double>(low.rate.bits_per_sec());
  const auto to = static_cast<double>(above->rate.bits_per_sec());
  return to_rate(from + part * (to - from), low.rate, above->rate);
}

Result<Point> parse_point(std::string_view text, std::size_t index) {
  const std::string field = fmt::format("points[{}]", index);
  const std::vector<std::string_view> halves = split_list(text, ':');
  if (halves.size() != 2) {
    return error_in("", fmt::format("{}: `{}` is not a fraction and a rate", field, text),
                    "write `0.5:1Gbit/s`");
  }
  const Result<double> fraction = parse_number(halves[0], field);
  if (!fraction) return fraction.error();
  const Result<DataRate> rate = parse_rate(halves[1], field);
  if (!rate) return rate.error();
  return Point{*fraction, *rate};
}

Status check_ascent(const Point& before, const Point& point, std::size_t index) {
  if (point.fraction > before.fraction && point.rate >= before.rate) return {};
  return error_in("",
                  fmt::format("points[{}]: {}:{} does not follow {}:{}", index, point.fraction,
                              exact_text(point.rate), before.fraction, exact_text(before.rate)),
                  "let fractions ascend and rates not fall");
}

}  // namespace

Status check(const QuantilesSpec& spec) {
  if (spec.points.size() < 2 || spec.points.size() > kMaxPoints) {
    return error_in("", fmt::format("points: {} of them", spec.points.size()),
                    fmt::format("use 2 to {}", kMaxPoints));
  }
  for (std::size_t i = 0; i < spec.points.size(); ++i) {
    const std::string field = fmt::format("points[{}]", i);
    if (Status in_range = check_rate(spec.points[i].rate, field); !in_range) return in_range;
    if (i == 0) continue;
    if (Status ascends = check_ascent(spec.points[i - 1], spec.points[i], i); !ascends)
      return ascends;
  }
  if (spec.points.front().fraction != 0 || spec.points.back().fraction != 1) {
    return error_in("",
                    fmt::format("points: they run from {} to {}", spec.points.front().fraction,
                                spec.points.back().fraction),
                    "give the lowest rate at 0 and the highest at 1");
  }
  if (Status in_range = check_time(spec.time_constant, "time_constant"); !in_range) return in_range;
  return check_time(spec.step, "step");
}

Status draw(const QuantilesSpec& spec, RandomStream& random, Duration length, LinkTrace& trace) {
  if (Status few = check_num_steps(spec.step, "step", length); !few) return few;
  GaussianWalk walk(spec.step, spec.time_constant, random);
  StepList steps;
  while (steps.length() < length) {
    steps.append(std::min(spec.step, length - steps.length()),
                 quantile(spec.points, normal_share(walk.value())));
    walk.advance(random);
  }
  std::move(steps).move_to(trace);
  return {};
}

std::string parameter_text(const QuantilesSpec& spec) {
  std::string list;
  for (const Point& point : spec.points) {
    list += fmt::format("{}{}:{}", list.empty() ? "" : ",", point.fraction, exact_text(point.rate));
  }
  return fmt::format("points={} time_constant={} step={}", list, exact_text(spec.time_constant),
                     exact_text(spec.step));
}

Result<GeneratorSpec> parse_quantiles(const Parameters& parameters) {
  QuantilesSpec spec;
  for (const std::string_view text : split_list(parameters.text("points"), ',')) {
    const Result<Point> point = parse_point(text, spec.points.size());
    if (!point) return point.error();
    spec.points.push_back(*point);
  }
  for (const Status& read :
       {parameters.read("time_constant", spec.time_constant), parameters.read("step", spec.step)}) {
    if (!read) return read.error();
  }
  return GeneratorSpec{spec};
}

}  // namespace sluice
