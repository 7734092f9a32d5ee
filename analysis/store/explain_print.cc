// An explanation as text for people and as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/store/codes.h"
#include "analysis/store/explain.h"
#include "base/table.h"

namespace sluice {
namespace {

// Milliseconds since the load arrived; empty when it never happened.
std::string since(const LoadRecord& load, const std::optional<Instant>& at) {
  return at ? fmt::format("{:.3f}", to_ms(*at - load.arrived_at)) : std::string();
}

nlohmann::json ns_or_null(const std::optional<Instant>& at) {
  return at ? nlohmann::json(to_ns(*at)) : nlohmann::json();
}

Table chunk_table(const LoadRecord& load) {
  Table table;
  table.column("chunk_index", "chunk")
      .column("tokens", "tokens")
      .column("action", "action", Align::kLeft);
  table.column("level", "level", Align::kLeft)
      .column("bytes", "bytes")
      .column("damage_fraction", "damage");
  table.column("requested_ms", "asked [ms]").column("first_byte_ms", "first byte [ms]");
  table.column("arrived_ms", "arrived [ms]").column("compute_began_ms", "compute [ms]");
  table.column("resident_ms", "resident [ms]")
      .column("reason", "the policy's reason", Align::kLeft);
  for (const ChunkRecord& chunk : load.chunks) {
    table.row({std::to_string(chunk.index),
               std::to_string(chunk.tokens),
               to_text(chunk.action),
               chunk.level,
               std::to_string(chunk.bytes.bytes()),
               {fmt::format("{:.4f}", chunk.damage), fmt::format("{}", chunk.damage)},
               since(load, chunk.requested_at),
               since(load, chunk.first_byte_at),
               since(load, chunk.arrived_at),
               since(load, chunk.compute_began_at),
               since(load, chunk.resident_at),
               chunk.reason});
  }
  return table;
}

nlohmann::json chunk_json(const ChunkRecord& chunk) {
  return {{"chunk_index", chunk.index},
          {"tokens", chunk.tokens},
          {"action", to_text(chunk.action)},
          {"level", chunk.level},
          {"bytes", chunk.bytes.bytes()},
          {"damage", chunk.damage},
          {"reason", chunk.reason},
          {"requested_ns", ns_or_null(chunk.requested_at)},
          {"first_byte_ns", ns_or_null(chunk.first_byte_at)},
          {"arrived_ns", ns_or_null(chunk.arrived_at)},
          {"compute_began_ns", ns_or_null(chunk.compute_began_at)},
          {"resident_ns", ns_or_null(chunk.resident_at)}};
}

nlohmann::json load_json(const LoadRecord& load) {
  nlohmann::json chunks = nlohmann::json::array();
  for (const ChunkRecord& chunk : load.chunks) chunks.push_back(chunk_json(chunk));
  return {{"load_index", load.index},
          {"arrived_ns", to_ns(load.arrived_at)},
          {"slo_ns", to_ns(load.slo)},
          {"context_tokens", load.context_tokens},
          {"outcome", to_text(load.outcome)},
          {"failure", load.failure},
          {"kv_ready_ns", ns_or_null(load.kv_ready_at)},
          {"first_token_ns", ns_or_null(load.first_token_at)},
          {"violated", load.violated()},
          {"bytes_moved", load.bytes_moved.bytes()},
          {"recomputed_tokens", load.recomputed_tokens},
          {"quality", load.quality},
          {"peak_memory_bytes", load.peak_memory.bytes()},
          {"chunks", chunks}};
}

void print_text(const Explanation& explanation, std::ostream& out) {
  std::size_t width = 0;
  for (const auto& [what, value] : explanation.facts) width = std::max(width, what.size());
  out << explanation.row << "\n";
  for (const auto& [what, value] : explanation.facts)
    out << fmt::format("  {:<{}}  {}\n", what, width, value);
  if (explanation.load) {
    out << "\nTimes since the load arrived:\n";
    chunk_table(*explanation.load).print_text(out);
  }
  out << "\nMake it again:\n" << explanation.command << "\n";
}

nlohmann::json to_json(const Explanation& explanation) {
  // A list, since a run may have several profiles.
  nlohmann::json facts = nlohmann::json::array();
  for (const auto& [what, value] : explanation.facts)
    facts.push_back({{"what", what}, {"value", value}});
  nlohmann::json json{{"row", explanation.row}, {"facts", facts}, {"command", explanation.command}};
  if (explanation.load) json["load"] = load_json(*explanation.load);
  return json;
}

Table fact_table(const Explanation& explanation) {
  Table table;
  table.column("what", "what", Align::kLeft).column("value", "value", Align::kLeft);
  for (const auto& [what, value] : explanation.facts) table.row({what, value});
  table.row({"command", explanation.command});
  return table;
}

}  // namespace

void print_as(TableFormat format, const Explanation& explanation, std::ostream& out) {
  if (format == TableFormat::kTable) {
    print_text(explanation, out);
    return;
  }
  const Table table = explanation.load ? chunk_table(*explanation.load) : fact_table(explanation);
  print_as(format, table, to_json(explanation), out);
}

}  // namespace sluice
