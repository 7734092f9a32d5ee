#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "traces/cli/commands.h"
#include "traces/generate.h"
#include "traces/workload/workload_trace.h"
#include "traces/write.h"

namespace sluice::trace_cli {
namespace {

std::string clock_text(TraceClock clock) {
  return clock == TraceClock::kTime ? "time" : "chunk";
}

std::string parameter_list(const GeneratorInfo& generator) {
  std::string out;
  for (const ParameterInfo& p : generator.parameters) {
    out += (out.empty() ? "" : " ") + std::string(p.required ? "" : "[") + std::string(p.name) +
           "=" + std::string(p.example) + (p.required ? "" : "]");
  }
  return out;
}

nlohmann::json parameters_json(const GeneratorInfo& generator) {
  nlohmann::json out = nlohmann::json::array();
  for (const ParameterInfo& p : generator.parameters) {
    out.push_back({{"name", p.name},
                   {"example", p.example},
                   {"sentence", p.sentence},
                   {"required", p.required}});
  }
  return out;
}

}  // namespace

Status list(TableFormat format) {
  Table table;
  table.column("kind", "kind", Align::kLeft)
      .column("id", "id", Align::kLeft)
      .column("clock", "clock", Align::kLeft);
  table.column("summary", "what it is", Align::kLeft)
      .column("takes", "unit or parameters", Align::kLeft);
  nlohmann::json json{{"readers", nlohmann::json::array()},
                      {"generators", nlohmann::json::array()},
                      {"presets", nlohmann::json::array()},
                      {"writers", nlohmann::json::array()},
                      {"workload_readers", nlohmann::json::array()}};
  for (const ReaderSummary& r : list_readers()) {
    table.row({"reader", r.id, r.clock, r.summary, r.unit});
    json["readers"].push_back({{"id", r.id},
                               {"clock", r.clock},
                               {"summary", r.summary},
                               {"unit", r.unit},
                               {"kind", r.kind}});
  }
  for (const GeneratorInfo& g : generators()) {
    table.row({"generator", std::string(g.id), clock_text(g.clock), std::string(g.summary),
               parameter_list(g)});
    json["generators"].push_back({{"id", g.id},
                                  {"clock", clock_text(g.clock)},
                                  {"summary", g.summary},
                                  {"parameters", parameters_json(g)}});
  }
  for (const LinkPreset& p : link_presets()) {
    table.row({"preset", std::string(p.id), "time", std::string(p.summary),
               fmt::format("[those of {}]", p.generator)});
    json["presets"].push_back({{"id", p.id},
                               {"summary", p.summary},
                               {"generator", p.generator},
                               {"parameters", p.parameters},
                               {"source", p.source}});
  }
  for (const WriterInfo& w : writers()) {
    table.row({"writer", std::string(w.id), clock_text(w.clock), std::string(w.summary), ""});
    json["writers"].push_back(
        {{"id", w.id}, {"clock", clock_text(w.clock)}, {"summary", w.summary}});
  }
  for (const WorkloadReaderSummary& r : list_workload_readers()) {
    table.row(
        {"workload", r.id, "-", r.summary, "times: " + r.times + "; prefixes: " + r.prefixes});
    json["workload_readers"].push_back(
        {{"id", r.id}, {"summary", r.summary}, {"times", r.times}, {"prefixes", r.prefixes}});
  }
  print_as(format, table, json, std::cout);
  return {};
}

}  // namespace sluice::trace_cli
