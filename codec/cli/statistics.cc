// sluice codec statistics: what a captured cache's numbers allow a codec to gain.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/table.h"
#include "codec/capture_format.h"
#include "codec/cli/commands.h"
#include "codec/measure/cache_statistics.h"

namespace sluice::cli {
namespace {

using nlohmann::json;

json to_json(const DeltaGain& gain) {
  return {{"variance_over_delta_variance", gain.of_all},
          {"variance_in_channel_over_delta_variance", gain.in_channel},
          {"layer_median", gain.layer_median}};
}

json to_json(const KindStatistics& kind) {
  const GroupEntropies& bits = kind.entropies;
  return {{"kind", to_text(kind.kind)},
          {"layers", kind.layers},
          {"tokens", kind.tokens},
          {"elements", kind.elements},
          {"delta_to_previous_token", to_json(kind.to_previous)},
          {"delta_to_anchor", to_json(kind.to_anchor)},
          {"bits_per_element",
           {{"whole", bits.whole},
            {"by_token", bits.by_token},
            {"by_layer", bits.by_layer},
            {"by_channel", bits.by_channel},
            {"by_layer_and_channel", bits.by_layer_and_channel}}}};
}

Table table_of(const std::vector<KindStatistics>& kinds) {
  Table table;
  table.column("kind", "kind", Align::kLeft).column("statistic", "statistic", Align::kLeft);
  table.column("value", "value").column("saved_percent", "saved");
  for (const KindStatistics& kind : kinds) {
    const std::string name(to_text(kind.kind));
    const auto gain = [&](const std::string& of, const DeltaGain& delta) {
      const auto row = [&](const std::string& what, double times) {
        table.row({name, what, {fmt::format("{:.2f} x", times), fmt::format("{}", times)}, ""});
      };
      row("variance / variance of differences to the " + of, delta.of_all);
      row("  the layer in the middle", delta.layer_median);
      row("  variance about each channel's mean", delta.in_channel);
    };
    gain("previous token", kind.to_previous);
    gain(fmt::format("first of {} tokens", kAnchorGroup), kind.to_anchor);
    const auto bits = [&](const std::string& what, double value) {
      const double saved = 100 * (1 - value / kind.entropies.whole);
      const bool is_known = kind.entropies.whole > 0;
      table.row({name,
                 what,
                 {fmt::format("{:.3f} bit", value), fmt::format("{}", value)},
                 is_known ? Table::Cell(fmt::format("{:.1f} %", saved), fmt::format("{}", saved))
                          : Table::Cell("")});
    };
    bits("entropy, one distribution", kind.entropies.whole);
    bits("  one per token", kind.entropies.by_token);
    bits("  one per layer", kind.entropies.by_layer);
    bits("  one per channel", kind.entropies.by_channel);
    bits("  one per layer and channel", kind.entropies.by_layer_and_channel);
  }
  table.note(fmt::format(
      "Entropies per element of symbols with a step of {} standard deviations of their tensor, as "
      "counted; distributions are not paid for.",
      kStatisticsStep));
  return table;
}

Status print_statistics(const std::string& path, const std::string& format_name) {
  const auto format = parse_table_format(format_name);
  if (!format) return format.error();
  const auto capture = read_capture(path);
  if (!capture) return capture.error();
  const auto kinds = cache_statistics(capture->cache.view());
  json all = json::array();
  for (const KindStatistics& kind : kinds) all.push_back(to_json(kind));
  print_as(*format, table_of(kinds), {{"capture", path}, {"statistics", all}}, std::cout);
  return {};
}

}  // namespace

void add_statistics(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand(
      "statistics", "how alike a cache's tokens are, and what grouping its numbers saves");
  const auto file = std::make_shared<std::string>();
  const auto format = std::make_shared<std::string>("table");
  command->add_option("IN", *file, "capture (.safetensors)")->required();
  command->add_option("--format", *format, "table, csv or json")->capture_default_str();
  command->footer("example: ./sluice codec statistics tests/data/smollm2-gettysburg.safetensors");
  command->callback(
      [&run, file, format] { run = [file, format] { return print_statistics(*file, *format); }; });
}

}  // namespace sluice::cli
