#include "sim/scenario/link_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parse.h"
#include "traces/read.h"

namespace sluice {
namespace {

constexpr std::int64_t kMaxSegments = 1'000'000;
constexpr Duration kMaxDelay = std::chrono::seconds{60};
constexpr DataSize kMaxMtu = DataSize::bytes(65535);  // the length field of IPv4

// Everything in the mapping but `generator` is a parameter of the generator, a list as "a,b,c".
std::vector<ParameterText> generator_parameters(Fields& fields) {
  std::vector<ParameterText> parameters;
  for (const auto& entry : fields.node()) {
    const std::string key = entry.first.Scalar();
    if (key == "generator") continue;
    parameters.push_back({key, fmt::format("{}", fmt::join(fields.texts(key), ","))});
  }
  return parameters;
}

GeneratorSpec constant(DataRate rate) {
  return ConstantSpec{rate};
}

GeneratorSpec read_generator(Fields& fields) {
  const YAML::Node at = fields.node("generator", true);
  const std::string id = fields.text("generator");
  const Result<GeneratorSpec> spec = make_spec(id, generator_parameters(fields));
  if (spec) return *spec;
  fields.errors().add(at, fields.path_of(id) + ": " + spec.error().what, spec.error().fix);
  return constant(DataRate::zero());
}

template <typename T>
void set(std::optional<T>& option, const Result<T>& value, Fields& fields) {
  if (value) {
    option = *value;
  } else {
    fields.errors().add(fields.node(), value.error());
  }
}

ReplayedTraces read_replayed(Fields& fields, const std::filesystem::path& folder) {
  ReplayedTraces replayed;
  replayed.file = fields.text("trace");
  ReadOptions options;
  if (fields.has("reader")) options.reader = fields.text("reader");
  if (fields.has("unit")) options.unit = fields.text("unit");
  if (fields.has("time_unit")) options.time_unit = fields.text("time_unit");
  if (fields.has("time_column")) options.time_column = fields.text("time_column");
  if (fields.has("rate_column")) options.rate_column = fields.text("rate_column");
  if (fields.has("stamps")) set(options.stamps, parse_stamp_rule(fields.text("stamps")), fields);
  if (fields.has("kind")) set(options.kind, parse_trace_kind(fields.text("kind")), fields);
  replayed.random_offset = fields.choice("offset", {"random", "zero"}, "random") == "random";
  fields.finish();
  if (fields.errors().any()) return replayed;
  const std::filesystem::path path = folder / replayed.file;
  Result<std::vector<LinkTrace>> traces = read_traces(path, options);
  if (traces) {
    replayed.traces = std::move(*traces);
  } else {
    fields.errors().add_elsewhere(traces.error());
  }
  return replayed;
}

std::variant<GeneratorSpec, ReplayedTraces> read_capacity(Fields& link,
                                                          const std::filesystem::path& folder) {
  const YAML::Node node = link.node("capacity", true);
  if (!node.IsDefined() || node.IsScalar()) return constant(link.rate("capacity"));
  Fields fields = link.child("capacity", true);
  if (fields.has("trace")) return read_replayed(fields, folder);
  return read_generator(fields);
}

}  // namespace

LinkSetting read_link(Fields fields, const std::filesystem::path& folder) {
  LinkSetting link;
  link.capacity = read_capacity(fields, folder);
  link.trace_length = fields.duration("trace_length", std::chrono::minutes{10});
  link.delay = fields.duration("delay");
  link.queue.limit = fields.size("queue", DataSize::bytes(16'000'000));
  link.mtu = fields.size("mtu", DataSize::bytes(1500));
  if (link.delay > kMaxDelay) {
    fields.errors().add(fields.node(), "link.delay passes one minute", "use a smaller delay");
  }
  if (link.mtu > kMaxMtu) {
    fields.errors().add(fields.node("mtu", false), "link.mtu passes 65535 B", "use a smaller mtu");
  }
  fields.finish();
  return link;
}

TransportSpec read_transport(Fields fields) {
  const TransportSpec standard;
  TransportSpec t;
  t.handshake = fields.boolean("handshake", standard.handshake);
  t.slow_start = fields.boolean("slow_start", standard.slow_start);
  t.initial_window_segments = static_cast<std::int32_t>(
      fields.integer("initial_window_segments", 1, kMaxSegments, standard.initial_window_segments));
  t.max_window = fields.size("max_window", standard.max_window);
  t.header = fields.size("header", standard.header);
  t.count_headers = fields.boolean("count_headers", standard.count_headers);
  fields.finish();
  return t;
}

}  // namespace sluice
