#include <fmt/format.h>

#include <array>

#include "base/names.h"
#include "traces/readers/reader.h"

namespace sluice {
namespace {

constexpr std::array kReaders{
    ReaderInfo{
        .id = "mahimahi",
        .summary =
            "one line per delivery opportunity: a whole millisecond at which 1500 bytes may pass",
        .unit = "fixed: 1500 B packet/ms",
        .kind = "capacity",
        .clock = TraceClock::kTime,
        .takes_unit = false,
        .takes_columns = false,
        .takes_stamps = false,
        .read = read_mahimahi},
    ReaderInfo{.id = "two-column",
               .summary = "time and throughput, tab or space, no header (Pensieve cooked, Lumos5G)",
               .unit = "default: s and Mbit/s",
               .kind = "achieved throughput",
               .clock = TraceClock::kTime,
               .takes_unit = true,
               .takes_columns = false,
               .takes_stamps = true,
               .read = read_two_column},
    ReaderInfo{
        .id = "cachegen",
        .summary = R"(JSON lines {"bw": [...]}, one trace each, one rate per chunk of a load)",
        .unit = "fixed: Gbit/s per chunk",
        .kind = "capacity",
        .clock = TraceClock::kChunk,
        .takes_unit = false,
        .takes_columns = false,
        .takes_stamps = false,
        .read = read_cachegen},
    ReaderInfo{
        .id = "csv",
        .summary = "a header, a column of times and one of rates; also our own t_ns,rate_bps",
        .unit = "needed: in the header (rate_mbps, rate [Mbit/s]) or --unit and --time-unit",
        .kind = "achieved throughput; capacity if the column is called so",
        .clock = TraceClock::kTime,
        .takes_unit = true,
        .takes_columns = true,
        .takes_stamps = true,
        .read = read_csv},
};

}  // namespace

std::span<const ReaderInfo> readers() {
  return kReaders;
}

Result<const ReaderInfo*> find_reader(std::string_view id) {
  std::vector<std::string> known;
  for (const ReaderInfo& reader : kReaders) {
    if (reader.id == id) return &reader;
    known.emplace_back(reader.id);
  }
  return error_in("--reader", fmt::format("unknown reader `{}`", id), suggest_name(id, known));
}

}  // namespace sluice
