// sluice codec inspect: what a .kvb container holds and what each part costs, without decoding it.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/table.h"
#include "codec/cli/commands.h"
#include "codec/container/decode.h"

namespace sluice::cli {
namespace {

using nlohmann::json;

std::pair<std::int64_t, std::int64_t> layers_of(const ContainerHeader& header,
                                                const SectionEntry& section) {
  return {header.shape.layers[section.first_entry].layer,
          header.shape.layers[section.first_entry + section.num_entries - 1].layer};
}

DataSize side_size(const ContainerHeader& header) {
  DataSize side = header.header_size;
  for (const SectionEntry& section : header.sections) side += section.side;
  return side;
}

json to_json(const ContainerHeader& header) {
  const std::int64_t elements = source_elements(header);
  const TokenRange range = token_range(header.shape);
  json sections = json::array();
  for (const SectionEntry& section : header.sections) {
    const auto [first, last] = layers_of(header, section);
    const std::int64_t held = num_elements(header, section);
    sections.push_back({{"first_layer", first},
                        {"last_layer", last},
                        {"kind", to_text(section.kind)},
                        {"refinement", section.refinement},
                        {"elements", held},
                        {"offset", section.offset},
                        {"bytes", section.size.bytes()},
                        {"side_bytes", section.side.bytes()},
                        {"bits_per_element", bits_per_element(section.size, held)}});
  }
  return {{"codec", header.codec_id},
          {"codec_version", header.codec_version},
          {"level", header.level},
          {"sealed", header.is_sealed()},
          {"model_profile", header.model_profile ? json(hex(*header.model_profile)) : json()},
          {"model", header.shape.facts.model},
          {"revision", header.shape.facts.revision},
          {"keys", to_text(header.shape.facts.keys)},
          {"layers", header.shape.layers.size()},
          {"first_token", range.begin},
          {"tokens", range.tokens()},
          {"elements", elements},
          {"kept_elements", num_elements(header.shape)},
          {"bytes", header.file_size.bytes()},
          {"header_bytes", header.header_size.bytes()},
          {"side_bytes", side_size(header).bytes()},
          {"bits_per_element", bits_per_element(header.file_size, elements)},
          {"sections", sections}};
}

Table section_table(const ContainerHeader& header) {
  Table table;
  table.column("layers", "layers", Align::kLeft)
      .column("kind", "kind", Align::kLeft)
      .column("refinement", "refinement")
      .column("elements", "elements");
  table.column("bytes", "bytes")
      .column("side_bytes", "side bytes")
      .column("bits_per_element", "bit/element");
  const auto row = [&](const std::string& layers, std::string_view kind,
                       const std::string& refinement, std::int64_t elements, DataSize size,
                       DataSize side) {
    const double bits = bits_per_element(size, elements);
    table.row({layers,
               std::string(kind),
               refinement,
               std::to_string(elements),
               std::to_string(size.bytes()),
               std::to_string(side.bytes()),
               {fmt::format("{:.3f}", bits), fmt::format("{}", bits)}});
  };
  row("header", "", "", 0, header.header_size, header.header_size);
  for (const SectionEntry& section : header.sections) {
    const auto [first, last] = layers_of(header, section);
    row(fmt::format("{}-{}", first, last), to_text(section.kind),
        std::to_string(section.refinement), num_elements(header, section), section.size,
        section.side);
  }
  // Dropped tokens count: the file stands for them too.
  row("all", "", "", source_elements(header), header.file_size, side_size(header));
  return table;
}

// Sizes of the whole are told per element that there was.
std::string dropped_text(const ContainerHeader& header) {
  if (!header.source_elements) return "";
  return fmt::format(", {} of {} elements kept", num_elements(header.shape),
                     *header.source_elements);
}

Status inspect(const std::string& path, const std::string& format_name) {
  const auto format = parse_table_format(format_name);
  if (!format) return format.error();
  const auto file = read_file(path);
  if (!file) return file.error();
  const auto bytes = std::as_bytes(std::span(*file));
  const auto header = parse_header(bytes, path);
  if (!header) return header.error();
  if (Status status = check_checksums(bytes, *header, path); !status) return status;
  if (*format == TableFormat::kTable) {
    const TokenRange range = token_range(header->shape);
    fmt::print("{}@{}, model {}, {} layers, tokens {} to {}{}{}{}\n\n", header->codec_id,
               header->level,
               header->shape.facts.model.empty() ? "not named" : header->shape.facts.model,
               header->shape.layers.size(), range.begin, range.end, dropped_text(*header),
               header->model_profile ? ", model profile " + hex(*header->model_profile) : "",
               header->is_sealed() ? ", sealed (not checked)" : "");
    std::fflush(stdout);
  }
  print_as(*format, section_table(*header), to_json(*header), std::cout);
  return {};
}

}  // namespace

void add_inspect(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("inspect", "what a .kvb container holds and what each section costs");
  const auto file = std::make_shared<std::string>();
  const auto format = std::make_shared<std::string>("table");
  command->add_option("FILE", *file, "container")->required();
  command->add_option("--format", *format, "table, csv or json")->capture_default_str();
  command->footer("example: ./sluice codec inspect /tmp/a.kvb --format json");
  command->callback(
      [&run, file, format] { run = [file, format] { return inspect(*file, *format); }; });
}

}  // namespace sluice::cli
