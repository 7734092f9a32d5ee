#include "sim/scenario/link_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/parse.h"
#include "traces/read.h"

namespace sluice {
namespace {

constexpr std::int64_t kMaxSegments = 1'000'000;
constexpr Duration kMaxDelay = std::chrono::seconds{60};
constexpr DataSize kQueueStandard = DataSize::bytes(16'000'000);
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

GeneratorSpec read_generator(Fields fields) {
  const YAML::Node at = fields.node("generator", true);
  const std::string id = fields.text("generator");
  const Result<GeneratorSpec> spec = make_spec(id, generator_parameters(fields));
  if (spec) return *spec;
  fields.errors().add(at, fields.path_of(id) + ": " + spec.error().what, spec.error().fix);
  return ConstantSpec{DataRate::zero()};
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
  if (fields.has("trace_name")) options.trace = fields.text("trace_name");
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
  if (!node.IsDefined() || !node.IsMap()) return read_rate(link, "capacity");
  Fields fields = link.child("capacity", true);
  if (fields.has("trace")) return read_replayed(fields, folder);
  return read_generator(fields);
}

// `16MB`, or a mapping with `limit` and a discipline.
QueueSpec read_queue(Fields& link) {
  QueueSpec queue;
  const YAML::Node node = link.node("queue", false);
  if (!node.IsDefined() || node.IsScalar()) {
    queue.limit = link.size("queue", kQueueStandard);
    return queue;
  }
  Fields fields = link.child("queue", true);
  queue.limit = fields.size("limit", kQueueStandard);
  const std::string discipline =
      fields.choice("discipline", {"drop-tail", "codel", "red"}, "drop-tail");
  if (discipline == "codel") {
    const CoDel standard;
    queue.discipline = CoDel{fields.duration("target", standard.target),
                             fields.duration("interval", standard.interval)};
  } else if (discipline == "red") {
    const Red standard;
    queue.discipline =
        Red{fields.size("low"), fields.size("high"),
            fields.number("probability", 0, 1, standard.probability),
            fields.number("weight", 0, 1, standard.weight), fields.boolean("ecn", standard.ecn)};
  }
  fields.finish();
  return queue;
}

// `0.01` (a share, each packet by itself), or a mapping of a good and a bad state.
LossSpec read_loss(Fields& link) {
  const YAML::Node node = link.node("loss", false);
  if (!node.IsDefined()) return NoLoss{};
  if (node.IsScalar()) return RandomLoss{link.number("loss", 0, 1)};
  Fields fields = link.child("loss", true);
  const BurstLoss standard;
  const BurstLoss loss{fields.duration("mean_good"), fields.duration("mean_bad"),
                       fields.number("loss_good", 0, 1, standard.loss_good),
                       fields.number("loss_bad", 0, 1, standard.loss_bad)};
  fields.finish();
  return loss;
}

bool says_trace(Fields& fields, const std::string& key) {
  const YAML::Node node = fields.node(key, false);
  return node.IsDefined() && node.IsScalar() && node.Scalar() == "trace";
}

void check_link(Fields& fields, const LinkSetting& link) {
  if (link.delay > kMaxDelay || link.jitter > kMaxDelay) {
    fields.errors().add(fields.node(), fields.path_of("delay") + " or jitter passes one minute",
                        "use a smaller one");
  }
  if (link.mtu > kMaxMtu) {
    fields.errors().add(fields.node("mtu", false), fields.path_of("mtu") + " passes 65535 B",
                        "use a smaller mtu");
  }
  if (const Status effects = check_effects(link.queue, link.loss); !effects)
    fields.errors().add(fields.node(), effects.error());
}

CongestionControl read_congestion(Fields& fields) {
  const std::string name =
      fields.choice("congestion", {"cubic", "bbr", "dctcp", "linux-reno"}, "cubic");
  if (name == "bbr") return CongestionControl::kBbr;
  if (name == "dctcp") return CongestionControl::kDctcp;
  return name == "linux-reno" ? CongestionControl::kLinuxReno : CongestionControl::kCubic;
}

}  // namespace

GeneratorSpec read_rate(Fields& fields, const std::string& key) {
  const YAML::Node node = fields.node(key, true);
  if (!node.IsDefined() || !node.IsMap()) return ConstantSpec{fields.rate(key)};
  return read_generator(fields.child(key, true));
}

void check_generated(Fields& fields, const std::string& key, const GeneratorSpec& spec,
                     Duration trace_length) {
  if (fields.errors().any()) return;
  const Result<LinkTrace> trace = generate(spec, 0, 0, trace_length);
  if (trace) return;
  fields.errors().add(fields.node(),
                      fmt::format("{} with {}: {}", fields.path_of(key),
                                  fields.path_of("trace_length"), trace.error().what),
                      trace.error().fix);
}

std::optional<std::string> missing_in_traces(const LinkSetting& link) {
  const auto* replayed = std::get_if<ReplayedTraces>(&link.capacity);
  const auto all = [&](const auto& has) {
    return replayed != nullptr &&
           std::all_of(replayed->traces.begin(), replayed->traces.end(), has);
  };
  if (link.delay_from_trace && !all([](const LinkTrace& t) { return t.delay.has_value(); }))
    return "delay";
  if (link.loss_from_trace && !all([](const LinkTrace& t) { return t.loss.has_value(); }))
    return "loss";
  return std::nullopt;
}

LinkSetting read_link(Fields& fields, const std::filesystem::path& folder) {
  LinkSetting link;
  link.capacity = read_capacity(fields, folder);
  link.trace_length = fields.duration("trace_length", std::chrono::minutes{10});
  link.delay_from_trace = says_trace(fields, "delay");
  link.loss_from_trace = says_trace(fields, "loss");
  if (!link.delay_from_trace) link.delay = fields.duration("delay");
  link.jitter = fields.duration("jitter", Duration::zero());
  if (!link.loss_from_trace) link.loss = read_loss(fields);
  link.queue = read_queue(fields);
  link.mtu = fields.size("mtu", DataSize::bytes(1500));
  check_link(fields, link);
  if (const auto key = missing_in_traces(link); key && !fields.errors().any()) {
    fields.errors().add(
        fields.node(*key, false),
        fmt::format("{}: the capacity is no trace file that says a {}", fields.path_of(*key), *key),
        "give a value, or a file of a reader that knows it");
  }
  if (const auto* spec = std::get_if<GeneratorSpec>(&link.capacity))
    check_generated(fields, "capacity", *spec, link.trace_length);
  return link;
}

TransportSpec read_transport(Fields fields) {
  const TransportSpec standard;
  TransportSpec t;
  t.handshake = fields.boolean("handshake", standard.handshake);
  t.slow_start = fields.boolean("slow_start", standard.slow_start);
  t.hystart = fields.boolean("hystart", standard.hystart);
  t.initial_window_segments = static_cast<std::int32_t>(
      fields.integer("initial_window_segments", 1, kMaxSegments, standard.initial_window_segments));
  t.max_window = fields.size("max_window", standard.max_window);
  t.header = fields.size("header", standard.header);
  t.congestion = read_congestion(fields);
  t.pacing = fields.boolean("pacing", standard.pacing);
  t.count_headers = fields.boolean("count_headers", standard.count_headers);
  fields.finish();
  return t;
}

}  // namespace sluice
