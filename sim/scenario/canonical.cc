#include "sim/scenario/canonical.h"

#include <nlohmann/json.hpp>

#include "base/sha256.h"

namespace sluice {
namespace {

using Json = nlohmann::json;  // keys in sorted order: one text per content

Json capacity_json(const LinkSetting& link) {
  if (const auto* spec = std::get_if<GeneratorSpec>(&link.capacity)) {
    return {{"generator", describe(*spec)}, {"trace_length_ns", to_ns(link.trace_length)}};
  }
  const auto& replayed = std::get<ReplayedTraces>(link.capacity);
  Json traces = Json::array();
  for (const LinkTrace& t : replayed.traces) {
    Json steps = Json::array();
    for (const RateStep& step : t.steps)
      steps.push_back({to_ns(step.start), step.rate.bits_per_sec()});
    traces.push_back({{"source_sha256", t.sha256}, {"steps_sha256", sha256_hex(steps.dump())}});
  }
  return {{"traces", traces}, {"random_offset", replayed.random_offset}};
}

Json link_json(const LinkSetting& link) {
  return {{"capacity", capacity_json(link)},
          {"delay_ns", to_ns(link.delay)},
          {"queue_bytes", link.queue.limit.bytes()},
          {"mtu_bytes", link.mtu.bytes()}};
}

Json transport_json(const TransportSpec& t) {
  return {{"handshake", t.handshake},
          {"slow_start", t.slow_start},
          {"initial_window_segments", t.initial_window_segments},
          {"max_window_bytes", t.max_window.bytes()},
          {"header_bytes", t.header.bytes()},
          {"count_headers", t.count_headers}};
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
  return "isolated";
}

Json workload_json(const WorkloadSetting& w) {
  return {{"arrivals", arrivals_json(w.arrivals)},
          {"loads", w.loads},
          {"context_tokens", {w.context_tokens.low, w.context_tokens.high}},
          {"query_tokens", w.query_tokens},
          {"give_up_ns", to_ns(w.give_up)}};
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
  const Json json = {{"schema", 1},
                     {"name", s.name},
                     {"link", link_json(s.link)},
                     {"transport", transport_json(s.transport)},
                     {"model", model_json(s.model)},
                     {"ladder", ladder_json(s)},
                     {"device", {{"id", s.device.id}, {"sha256", s.device.sha256}}},
                     {"recompute", s.recompute},
                     {"workload", workload_json(s.workload)},
                     {"slo_ns", to_ns(s.slo)}};
  return json.dump();
}

std::string sha256_of_canonical(const std::string& canonical) {
  return sha256_hex(std::string_view(canonical));
}

}  // namespace sluice
