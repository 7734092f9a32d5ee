#include "sim/scenario/canonical.h"

#include <nlohmann/json.hpp>

#include "base/sha256.h"

namespace sluice {
namespace {

using Json = nlohmann::json;  // keys in sorted order: one text per content

Json rate_json(const GeneratorSpec& spec, Duration trace_length) {
  return {{"generator", describe(spec)}, {"trace_length_ns", to_ns(trace_length)}};
}

std::string end_text(TraceEnd end) {
  return end == TraceEnd::kLoop ? "loop" : "hold";
}

// What the network replays of a trace, not the whole of it twice: hashes of the series.
Json trace_json(const LinkTrace& t) {
  Json steps = Json::array();
  for (const RateStep& step : t.steps)
    steps.push_back({to_ns(step.start), step.rate.bits_per_sec()});
  Json json = {{"source_sha256", t.sha256},
               {"steps_sha256", sha256_hex(steps.dump())},
               {"length_ns", to_ns(t.length)},
               {"end", end_text(t.end)}};
  if (t.delay) {
    Json delays = Json::array();
    for (const DelayStep& step : t.delay->steps)
      delays.push_back({to_ns(step.start), to_ns(step.delay)});
    json["delay_sha256"] = sha256_hex(delays.dump());
  }
  if (t.loss) {
    Json losses = Json::array();
    for (const LossStep& step : t.loss->steps) losses.push_back({to_ns(step.start), step.loss_ppm});
    json["loss_sha256"] = sha256_hex(losses.dump());
  }
  return json;
}

Json capacity_json(const LinkSetting& link) {
  if (const auto* spec = std::get_if<GeneratorSpec>(&link.capacity))
    return rate_json(*spec, link.trace_length);
  const auto& replayed = std::get<ReplayedTraces>(link.capacity);
  Json traces = Json::array();
  for (const LinkTrace& trace : replayed.traces) traces.push_back(trace_json(trace));
  return {{"traces", traces}, {"random_offset", replayed.random_offset}};
}

Json loss_json(const LossSpec& loss) {
  if (const auto* random = std::get_if<RandomLoss>(&loss)) return random->probability;
  const auto* burst = std::get_if<BurstLoss>(&loss);
  if (burst == nullptr) return 0;
  return {{"mean_good_ns", to_ns(burst->mean_good)},
          {"mean_bad_ns", to_ns(burst->mean_bad)},
          {"loss_good", burst->loss_good},
          {"loss_bad", burst->loss_bad}};
}

Json queue_json(const QueueSpec& queue) {
  Json json = {{"limit_bytes", queue.limit.bytes()}, {"discipline", "drop-tail"}};
  if (const auto* codel = std::get_if<CoDel>(&queue.discipline)) {
    json["discipline"] = "codel";
    json["target_ns"] = to_ns(codel->target);
    json["interval_ns"] = to_ns(codel->interval);
  }
  if (const auto* red = std::get_if<Red>(&queue.discipline)) {
    json["discipline"] = "red";
    json["low_bytes"] = red->low.bytes();
    json["high_bytes"] = red->high.bytes();
    json["probability"] = red->probability;
    json["weight"] = red->weight;
    if (red->ecn) json["ecn"] = true;
  }
  return json;
}

Json link_json(const LinkSetting& link) {
  Json json = {{"capacity", capacity_json(link)}, {"delay_ns", to_ns(link.delay)},
               {"jitter_ns", to_ns(link.jitter)}, {"loss", loss_json(link.loss)},
               {"queue", queue_json(link.queue)}, {"mtu_bytes", link.mtu.bytes()}};
  if (link.delay_from_trace) json["delay_ns"] = "trace";
  if (link.loss_from_trace) json["loss"] = "trace";
  return json;
}

// The names of nodes and cables seed their draws, so they count.
Json topology_json(const TopologySetting& topology) {
  Json links = Json::array(), cables = Json::array(), sources = Json::array();
  for (const LinkSetting& link : topology.links) links.push_back(link_json(link));
  for (const CableSetting& cable : topology.cables) {
    cables.push_back({cable.name, cable.from, cable.to, cable.link,
                      cable.back ? Json(*cable.back) : Json(nullptr)});
  }
  for (const SourceSetting& source : topology.sources)
    sources.push_back({source.node, source.share});
  return {{"nodes", topology.nodes}, {"links", links},
          {"cables", cables},        {"sources", sources},
          {"hosts", topology.hosts}, {"destinations", topology.destinations}};
}

Json end_json(const std::optional<NodeIndex>& end) {
  return end ? Json(*end) : Json(nullptr);
}

Json traffic_json(const CrossTraffic& traffic) {
  Json json = std::visit(
      [](const auto& t) -> Json {
        return {{"from", end_json(t.ends.from)}, {"to", end_json(t.ends.to)}};
      },
      traffic);
  if (const auto* steady = std::get_if<SteadyTraffic>(&traffic)) {
    json["rate"] = rate_json(steady->rate, steady->trace_length);
    json["packet_bytes"] = steady->packet.bytes();
  } else if (const auto* transfers = std::get_if<PoissonTraffic>(&traffic)) {
    json["mean_gap_ns"] = to_ns(transfers->mean_gap);
    json["bytes"] = {transfers->low.bytes(), transfers->high.bytes()};
    json["connections"] = transfers->connections;
  } else {
    json["tcp_connections"] = std::get<CompetingTraffic>(traffic).connections;
  }
  return json;
}

Json cross_traffic_json(const Scenario& s) {
  Json all = Json::array();
  for (const CrossTraffic& traffic : s.cross_traffic) all.push_back(traffic_json(traffic));
  return {{"warm_up_ns", to_ns(s.warm_up)}, {"flows", all}};
}

std::string congestion_text(CongestionControl control) {
  switch (control) {
    case CongestionControl::kBbr:
      return "bbr";
    case CongestionControl::kDctcp:
      return "dctcp";
    case CongestionControl::kLinuxReno:
      return "linux-reno";
    case CongestionControl::kCubic:
      return "cubic";
  }
  return {};
}

Json transport_json(const TransportSpec& t) {
  return {{"handshake", t.handshake},
          {"slow_start", t.slow_start},
          {"hystart", t.hystart},
          {"initial_window_segments", t.initial_window_segments},
          {"max_window_bytes", t.max_window.bytes()},
          {"header_bytes", t.header.bytes()},
          {"count_headers", t.count_headers},
          {"congestion", congestion_text(t.congestion)},
          {"pacing", t.pacing}};
}

Json time_json(const std::optional<LinearTime>& time) {
  if (!time) return nullptr;
  return {{"fixed_ns", to_ns(time->fixed)}, {"ns_per_element", time->ns_per_element}};
}

Json ladder_json(const Scenario& s) {
  Json levels = Json::array();
  for (const LevelFacts& level : s.ladder.levels) {
    levels.push_back({{"id", level.id()},
                      {"bits_per_element", level.bits_per_element},
                      {"decode", s.decode ? time_json(level.decode) : Json(nullptr)},
                      {"damage", level.damage}});
    if (level.refines) levels.back()["refines"] = *level.refines;
  }
  return {{"profile", s.ladder.id},
          {"profile_sha256", s.ladder.sha256},
          {"levels", levels},
          {"chunk_tokens", s.chunk_tokens}};
}

Json arrivals_json(const Arrivals& arrivals) {
  if (const auto* every = std::get_if<EveryArrivals>(&arrivals))
    return {{"every_ns", to_ns(every->gap)}};
  if (const auto* poisson = std::get_if<PoissonArrivals>(&arrivals)) {
    return {{"poisson_mean_gap_ns", to_ns(poisson->mean_gap)}};
  }
  if (const auto* trace = std::get_if<TraceArrivals>(&arrivals)) {
    return {{"trace", {{"time_scale", trace->time_scale}, {"debunch_ns", to_ns(trace->debunch)}}}};
  }
  return "isolated";
}

Json range_json(const TokenCountRange& range) {
  return {range.low, range.high};
}

// The file by its content, and what of it is read how.
Json replayed_json(const ReplayedContexts& replayed) {
  const WorkloadSummary& summary = replayed.source.summary();
  const WorkloadOptions& options = replayed.source.options();
  Json json = {{"sha256", summary.sha256},
               {"reader", summary.reader},
               {"first", replayed.first ? Json(*replayed.first) : Json("random")}};
  if (summary.block_tokens) json["block_tokens"] = *summary.block_tokens;
  for (const auto& [key, value] :
       {std::pair{"time_unit", &options.time_unit}, std::pair{"time_column", &options.time_column},
        std::pair{"input_column", &options.input_column},
        std::pair{"output_column", &options.output_column}}) {
    if (*value) json[key] = **value;
  }
  return json;
}

// Adds what a workload of independent contexts that share nothing does not have.
void add_sharing(Json& json, const WorkloadSetting& w) {
  if (const auto* own = std::get_if<IndependentContexts>(&w.contexts);
      own != nullptr && own->shared_fraction > 0) {
    json["shared_prefixes"] = {{"share", own->shared_fraction},
                               {"count", own->shared_count},
                               {"tokens", own->shared_tokens}};
  }
  if (const auto* chat = std::get_if<ChatContexts>(&w.contexts)) {
    json["sessions"] = {{"concurrent", chat->concurrent},
                        {"first_tokens", range_json(chat->first_tokens)},
                        {"turns", range_json(chat->turns)},
                        {"turn_tokens", range_json(chat->turn_tokens)}};
  }
  if (const auto* replayed = std::get_if<ReplayedContexts>(&w.contexts))
    json["trace"] = replayed_json(*replayed);
  if (w.prefix_cache) {
    json["prefix_cache"] = {{"tokens", w.prefix_cache->capacity_tokens},
                            {"warm_up", w.prefix_cache->warm_up}};
  }
}

Json workload_json(const WorkloadSetting& w) {
  Json json = {{"arrivals", arrivals_json(w.arrivals)},
               {"loads", w.loads},
               {"context_tokens", range_json(w.context_tokens)},
               {"query_tokens", w.query_tokens},
               {"give_up_ns", to_ns(w.give_up)}};
  add_sharing(json, w);
  return json;
}

Json model_json(const ModelGeometry& model) {
  Json layers = Json::array();
  for (const LayerGeometry& l : model.layers) {
    layers.push_back({l.kv_heads, l.head_dim, l.tensors, l.window_tokens.value_or(0)});
  }
  return {{"id", model.id}, {"parameters", model.parameters}, {"layers", layers}};
}

}  // namespace

std::string canonical_text(const Scenario& s) {
  Json json = {{"schema", 2},
               {"name", s.title()},
               {"topology", topology_json(s.topology)},
               {"cross_traffic", cross_traffic_json(s)},
               {"transport", transport_json(s.transport)},
               {"model", model_json(s.model)},
               {"ladder", ladder_json(s)},
               {"device", {{"id", s.device.id}, {"sha256", s.device.sha256}}},
               {"recompute", s.recompute},
               {"workload", workload_json(s.workload)},
               {"slo_ns", to_ns(s.slo)}};
  if (s.request_time > Duration::zero()) json["request_time_ns"] = to_ns(s.request_time);
  if (s.measured) json["measured_chunks"] = s.measured->sha256;
  return json.dump();
}

std::string sha256_of_canonical(const std::string& canonical) {
  return sha256_hex(std::string_view(canonical));
}

}  // namespace sluice
