// sluice codec list: every codec and level of the registry.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/table.h"
#include "codec/cli/commands.h"

namespace sluice::cli {
namespace {

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
  print_as(*format, table, json, std::cout);
  return {};
}

}  // namespace

void add_list(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("list", "the codecs and their levels, best quality first");
  const auto format = std::make_shared<std::string>("table");
  command->add_option("--format", *format, "table, csv or json")->capture_default_str();
  command->footer("example: ./sluice codec list --format json");
  command->callback([&run, format] { run = [format] { return list(*format); }; });
}

}  // namespace sluice::cli
