// The contract of a trace reader, and the table of all of them.
// Where in the flow: read_traces() picks one by id or by detect_reader() and calls it.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "traces/link_trace.h"
#include "traces/read.h"

namespace sluice {

using ReadFunction = Result<std::vector<LinkTrace>>(const std::filesystem::path& path,
                                                    const ReadOptions& options);

struct ReaderInfo {
  std::string_view id;
  std::string_view summary;
  std::string_view unit;  // for people: "fixed: ...", "default: ..." or "needed: ..."
  std::string_view kind;  // for people: what the numbers are, unless declared otherwise
  TraceClock clock = TraceClock::kTime;
  bool takes_unit = false;  // ReadOptions::unit and time_unit mean something to it
  bool takes_time_column = false;
  bool takes_rate_column = false;
  bool takes_stamps = false;
  // Gets only options it takes. Leaves `reader` to read_traces(), and `name` too unless the file
  // has several traces.
  ReadFunction* read = nullptr;
};

// In the order in which `list` shows them.
[[nodiscard]] std::span<const ReaderInfo> readers();
[[nodiscard]] Result<const ReaderInfo*> find_reader(std::string_view id);

// A file's only trace as a list.
[[nodiscard]] inline std::vector<LinkTrace> only(LinkTrace trace) {
  std::vector<LinkTrace> traces;
  traces.push_back(std::move(trace));
  return traces;
}

// The readers themselves, one file each.
ReadFunction read_mahimahi;
ReadFunction read_two_column;
ReadFunction read_sabre;
ReadFunction read_csv;
ReadFunction read_cachegen;
ReadFunction read_raca;
ReadFunction read_5gophers;
ReadFunction read_lumos5g_raw;
ReadFunction read_nyu_mets;
ReadFunction read_spark;
ReadFunction read_starlink;
ReadFunction read_fcc_mba;
ReadFunction read_hsdpa;
ReadFunction read_ghent;
ReadFunction read_puffer;
ReadFunction read_cellreplay;

}  // namespace sluice
