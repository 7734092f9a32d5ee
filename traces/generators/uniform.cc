// A rate drawn uniformly and independently: per interval of time, or per chunk of a load as
// CacheGen's traces do.
#include <fmt/format.h>

#include "traces/generators/generator.h"

namespace sluice {
namespace {

// Every whole bit/s from low to high is equally likely.
DataRate draw_rate(DataRate low, DataRate high, RandomStream& random) {
  const auto width = static_cast<std::uint64_t>((high - low).bits_per_sec());
  return low + DataRate::bits_per_sec(static_cast<std::int64_t>(random.below(width + 1)));
}

}  // namespace

Status check(const UniformSpec& spec) {
  if (Status in_range = check_low_high(spec.low, spec.high); !in_range) return in_range;
  return check_time(spec.interval, "interval");
}

Status draw(const UniformSpec& spec, RandomStream& random, Duration length, LinkTrace& trace) {
  if (Status few = check_num_steps(spec.interval, "interval", length); !few) return few;
  StepList steps;
  while (steps.length() < length) {
    steps.append(std::min(spec.interval, length - steps.length()),
                 draw_rate(spec.low, spec.high, random));
  }
  std::move(steps).move_to(trace);
  return {};
}

std::string parameter_text(const UniformSpec& spec) {
  return fmt::format("low={} high={} interval={}", exact_text(spec.low), exact_text(spec.high),
                     exact_text(spec.interval));
}

Result<GeneratorSpec> parse_uniform(const Parameters& parameters) {
  UniformSpec spec;
  for (const Status& read : {parameters.read("low", spec.low), parameters.read("high", spec.high),
                             parameters.read("interval", spec.interval)}) {
    if (!read) return read.error();
  }
  return GeneratorSpec{spec};
}

Status check(const UniformPerChunkSpec& spec) {
  if (Status in_range = check_low_high(spec.low, spec.high); !in_range) return in_range;
  if (spec.chunks >= 1 && spec.chunks <= kMaxGeneratedSteps) return {};
  return error_in("", fmt::format("chunks: {} is out of range", spec.chunks),
                  fmt::format("use 1 to {}", kMaxGeneratedSteps));
}

Status draw(const UniformPerChunkSpec& spec, RandomStream& random, Duration /*length*/,
            LinkTrace& trace) {
  trace.clock = TraceClock::kChunk;
  for (std::int64_t i = 0; i < spec.chunks; ++i) {
    trace.steps.push_back({Duration::zero(), draw_rate(spec.low, spec.high, random)});
  }
  return {};
}

std::string parameter_text(const UniformPerChunkSpec& spec) {
  return fmt::format("low={} high={} chunks={}", exact_text(spec.low), exact_text(spec.high),
                     spec.chunks);
}

Result<GeneratorSpec> parse_uniform_per_chunk(const Parameters& parameters) {
  UniformPerChunkSpec spec;
  for (const Status& read : {parameters.read("low", spec.low), parameters.read("high", spec.high),
                             parameters.read("chunks", spec.chunks)}) {
    if (!read) return read.error();
  }
  return GeneratorSpec{spec};
}

}  // namespace sluice
