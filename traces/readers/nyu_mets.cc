// NYU-METS (Mei et al., PAM 2020): LTE in the subway, an iperf sample a second: a number and its
// unit, without a header and without times.
// Surprise: each row says its unit. Those in bytes are refused: iperf's are powers of 1024 in some
// versions and of 1000 in others.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "traces/readers/csv_header.h"
#include "traces/readers/line_reader.h"
#include "traces/readers/numbers.h"
#include "traces/readers/reader.h"
#include "traces/step_list.h"

namespace sluice {
namespace {

constexpr Duration kPeriod = std::chrono::seconds{1};
constexpr std::array kUnits{
    NumberUnit{"bits/sec", "bit/s", 1},
    NumberUnit{"Kbits/sec", "kbit/s", 1'000},
    NumberUnit{"Mbits/sec", "Mbit/s", 1'000'000},
    NumberUnit{"Gbits/sec", "Gbit/s", 1'000'000'000},
};

Result<NumberUnit> read_unit(std::string_view text) {
  const auto found = std::find_if(kUnits.begin(), kUnits.end(),
                                  [&](const NumberUnit& unit) { return unit.name == text; });
  if (found != kUnits.end()) return *found;
  return error_in("", fmt::format("the unit `{}` is none of iperf's in bits", excerpt(text)),
                  "known: bits/sec, Kbits/sec, Mbits/sec, Gbits/sec");
}

Status read_row(std::string_view line, std::vector<std::string_view>& fields, StepList& list,
                LinkTrace& trace) {
  if (line.empty()) return error_in("", "the line is empty", "delete it");
  if (!split_csv(line, fields) || fields.size() != 2) {
    return error_in("", fmt::format("{} columns instead of two", fields.size()),
                    "give a rate and its unit, as in `13.9,Mbits/sec`");
  }
  const Result<NumberUnit> unit = read_unit(fields[1]);
  if (!unit) return unit.error();
  const Result<DataRate> rate = read_rate(fields[0], *unit);
  if (!rate) return rate.error();
  if (trace.unit.empty()) trace.unit = unit->shown;
  if (trace.unit != unit->shown) trace.unit = "in each row";
  return list.add(kPeriod, {.rate = *rate});
}

}  // namespace

Result<std::vector<LinkTrace>> read_nyu_mets(const std::filesystem::path& path,
                                             const ReadOptions&) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines) return lines.error();
  StepList list;
  LinkTrace trace;
  std::vector<std::string_view> fields;
  while (true) {
    const auto line = lines->next();
    if (!line) return line.error();
    if (!*line) break;
    if (Status read = read_row(**line, fields, list, trace); !read)
      return lines->error_here(read.error());
  }
  if (lines->line_number() == 0) return lines->empty_file();
  std::move(list).move_to(trace);
  trace.num_rows = lines->line_number();
  trace.kind = TraceKind::kAchievedThroughput;
  trace.sha256 = lines->sha256();
  return only(std::move(trace));
}

}  // namespace sluice
