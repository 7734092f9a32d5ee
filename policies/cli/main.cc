// `sluice policy`: the table of policies.
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/command_line.h"
#include "base/table.h"
#include "policies/registry.h"

namespace sluice {
namespace {

std::string parameters_of(const PolicyEntry& entry) {
  std::string text;
  for (const PolicyParameter& p : entry.parameters) {
    text += (text.empty() ? "" : "; ") + p.name +
            (p.default_value.empty() ? " (must be given)" : "=" + p.default_value) + ": " +
            p.sentence;
  }
  return text.empty() ? "-" : text;
}

nlohmann::json json_of(const PolicyEntry& entry) {
  nlohmann::json parameters = nlohmann::json::array();
  for (const PolicyParameter& p : entry.parameters) {
    parameters.push_back({{"name", p.name},
                          {"sentence", p.sentence},
                          {"default", p.default_value.empty() ? nlohmann::json(nullptr)
                                                              : nlohmann::json(p.default_value)}});
  }
  return {{"id", entry.id},
          {"version", entry.version},
          {"summary", entry.summary},
          {"clairvoyant", entry.clairvoyant},
          {"parameters", parameters}};
}

void list_policies(TableFormat format) {
  Table table;
  table.column("id", "policy", Align::kLeft)
      .column("version", "version")
      .column("clairvoyant", "clairvoyant", Align::kLeft);
  table.column("summary", "rule", Align::kLeft).column("parameters", "parameters", Align::kLeft);
  nlohmann::json json = nlohmann::json::array();
  for (const PolicyEntry& entry : policy_registry()) {
    table.row({entry.id, std::to_string(entry.version), entry.clairvoyant ? "yes" : "no",
               entry.summary, parameters_of(entry)});
    json.push_back(json_of(entry));
  }
  print_as(format, table, json, std::cout);
}

int run(int argc, char** argv) {
  CLI::App app{"The adaptation policies.", "./sluice policy"};
  std::string format = "table";
  CLI::App* list = app.add_subcommand("list", "every policy with its rule and parameters");
  list->add_option("--format", format, "table, csv or json (default table)");
  app.require_subcommand(1);
  app.footer("example: ./sluice policy list --format json");
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  const Result<TableFormat> parsed = parse_table_format(format);
  if (!parsed) {
    std::cerr << parsed.error().to_line() << '\n';
    return kExitUsage;
  }
  list_policies(*parsed);
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  return sluice::run(argc, argv);
}
