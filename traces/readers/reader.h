// The contract of a trace reader, and the table of all of them.
// Where in the flow: read_traces() picks one by id or by detect_reader() and calls it.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "traces/link_trace.h"
#include "traces/read.h"

namespace sluice {

struct ReaderInfo {
  std::string_view id;
  std::string_view summary;
  std::string_view unit;  // for people: "fixed: ...", "default: ..." or "needed: ..."
  std::string_view kind;  // for people: what the numbers are, unless declared otherwise
  TraceClock clock;
  bool takes_unit;     // ReadOptions::unit and time_unit mean something to it
  bool takes_columns;  // as do time_column and rate_column
  bool takes_stamps;   // as does stamps
  // Gets only options it takes. Leaves `reader` to read_traces(), and `name` too unless the file
  // has several traces.
  Result<std::vector<LinkTrace>> (*read)(const std::filesystem::path& path,
                                         const ReadOptions& options);
};

// In the order in which `list` shows them.
[[nodiscard]] std::span<const ReaderInfo> readers();
[[nodiscard]] Result<const ReaderInfo*> find_reader(std::string_view id);

// The readers themselves, one file pair each.
[[nodiscard]] Result<std::vector<LinkTrace>> read_mahimahi(const std::filesystem::path&,
                                                           const ReadOptions&);
[[nodiscard]] Result<std::vector<LinkTrace>> read_two_column(const std::filesystem::path&,
                                                             const ReadOptions&);
[[nodiscard]] Result<std::vector<LinkTrace>> read_cachegen(const std::filesystem::path&,
                                                           const ReadOptions&);
[[nodiscard]] Result<std::vector<LinkTrace>> read_csv(const std::filesystem::path&,
                                                      const ReadOptions&);

}  // namespace sluice
