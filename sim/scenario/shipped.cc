// Where scenarios lie: those shipped, and what a user names.
#include <algorithm>

#include "base/files.h"
#include "base/names.h"
#include "sim/scenario/scenario.h"

namespace sluice {
namespace fs = std::filesystem;

Result<std::vector<fs::path>> shipped_scenarios() {
  const Result<fs::path> home = sluice_home();
  if (!home) return home.error();
  std::vector<fs::path> files;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(*home / "scenarios", code)) {
    if (fs::exists(entry.path() / "scenario.yaml")) files.push_back(entry.path() / "scenario.yaml");
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<fs::path> find_scenario(const std::string& name) {
  std::error_code code;
  if (fs::is_regular_file(name, code)) return fs::path(name);
  if (fs::is_regular_file(fs::path(name) / "scenario.yaml", code))
    return fs::path(name) / "scenario.yaml";
  const Result<std::vector<fs::path>> shipped = shipped_scenarios();
  if (!shipped) return shipped.error();
  std::vector<std::string> names;
  for (const fs::path& file : *shipped) {
    names.push_back(file.parent_path().filename().string());
    if (names.back() == name) return file;
  }
  return error_in(name, "there is no such scenario, folder or file", suggest_name(name, names));
}

}  // namespace sluice
