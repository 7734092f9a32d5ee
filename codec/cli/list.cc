// sluice codec list: every codec and reducer of the registries, and their levels.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/table.h"
#include "codec/cli/commands.h"

namespace sluice::cli {
namespace {

// Its rows, `+h2o` as it stands behind a codec's name; and itself as JSON.
nlohmann::json add_reducer(const Reducer& reducer, Table& table) {
  const ReducerInfo& info = reducer.info;
  nlohmann::json levels = nlohmann::json::array();
  for (std::size_t i = 0; i < info.levels.size(); ++i) {
    const ReducerLevelInfo& level = info.levels[i];
    const bool is_default = i == info.default_level;
    table.row({"+" + info.id, "+" + level.name, "no", is_default ? "yes" : "no",
               fmt::format("keeps {} % of the tokens: {}", level.keep_percent, info.summary)});
    levels.push_back(
        {{"level", level.name}, {"default", is_default}, {"keep_percent", level.keep_percent}});
  }
  return {{"reducer", info.id},
          {"summary", info.summary},
          {"needs_attention", info.needs_attention},
          {"levels", levels}};
}

Status list(const std::string& format_name) {
  const auto format = parse_table_format(format_name);
  if (!format) return format.error();
  Table table;
  for (const char* key : {"codec", "level", "lossless", "default", "summary"})
    table.column(key, key, Align::kLeft);
  nlohmann::json json = nlohmann::json::array();
  for (const Codec& codec : all_codecs()) {
    const CodecInfo& info = codec.info;
    nlohmann::json levels = nlohmann::json::array();
    for (std::size_t i = 0; i < info.levels.size(); ++i) {
      const CodecLevelInfo& level = info.levels[i];
      const bool is_default = i == info.default_level;
      table.row({info.id, level.name, info.lossless ? "yes" : "no", is_default ? "yes" : "no",
                 level.summary});
      levels.push_back(
          {{"level", level.name}, {"default", is_default}, {"summary", level.summary}});
    }
    json.push_back({{"codec", info.id},
                    {"version", info.version},
                    {"summary", info.summary},
                    {"lossless", info.lossless},
                    {"needs_positions", info.needs_positions},
                    {"levels", levels}});
  }
  nlohmann::json reducers = nlohmann::json::array();
  for (const Reducer& reducer : all_reducers()) reducers.push_back(add_reducer(reducer, table));
  print_as(*format, table, {{"codecs", json}, {"reducers", reducers}}, std::cout);
  return {};
}

}  // namespace

void add_list(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("list", "codecs and reducers and their levels, best quality first");
  const auto format = std::make_shared<std::string>("table");
  command->add_option("--format", *format, "table, csv or json")->capture_default_str();
  command->footer(
      "int8+h2o@token+50 is codec int8 at level token of the 50 % of the tokens that reducer h2o "
      "keeps\n"
      "example: ./sluice codec list --format json");
  command->callback([&run, format] { run = [format] { return list(*format); }; });
}

}  // namespace sluice::cli
