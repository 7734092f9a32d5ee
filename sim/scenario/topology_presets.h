// The shapes that a scenario can name instead of listing nodes and links.
// Where in the flow: topology_fields.cc looks a preset up in this table.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "sim/scenario/fields.h"
#include "sim/scenario/topology_setting.h"

namespace sluice {

struct TopologyPreset {
  std::string_view id;
  std::string_view summary;  // nodes and links, for people
  // Reads the preset's own keys and fills everything but `preset`. Errors go to the fields.
  void (*read)(Fields& fields, const std::filesystem::path& folder, TopologySetting& topology);
};

[[nodiscard]] std::span<const TopologyPreset> topology_presets();

}  // namespace sluice
