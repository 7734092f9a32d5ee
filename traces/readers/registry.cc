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
        .read = read_mahimahi},
    ReaderInfo{.id = "two-column",
               .summary = "time and throughput, tab or space, no header (Pensieve cooked, Lumos5G)",
               .unit = "default: s and Mbit/s",
               .kind = "achieved throughput",
               .takes_unit = true,
               .takes_stamps = true,
               .read = read_two_column},
    ReaderInfo{
        .id = "sabre",
        .summary = "JSON list of periods {duration_ms, bandwidth_kbps, latency_ms}; with delay",
        .unit = "fixed: ms and kbit/s",
        .kind = "achieved throughput",
        .read = read_sabre},
    ReaderInfo{
        .id = "csv",
        .summary = "a header, a column of times and one of rates; also our own t_ns,rate_bps",
        .unit = "needed: in the header (rate_mbps, rate [Mbit/s]) or --unit and --time-unit",
        .kind = "achieved throughput; capacity if the column is called so",
        .takes_unit = true,
        .takes_time_column = true,
        .takes_rate_column = true,
        .takes_stamps = true,
        .read = read_csv},
    ReaderInfo{
        .id = "cachegen",
        .summary = R"(JSON lines {"bw": [...]}, one trace each, one rate per chunk of a load)",
        .unit = "fixed: Gbit/s per chunk",
        .kind = "capacity",
        .clock = TraceClock::kChunk,
        .read = read_cachegen},
    ReaderInfo{
        .id = "raca",
        .summary = "Irish 4G/5G drive tests of G-NetTrack, CSV; needs --rate-column; with delay",
        .unit = "fixed: kbit/s",
        .kind = "achieved throughput",
        .takes_rate_column = true,
        .read = read_raca},
    ReaderInfo{
        .id = "5gophers",
        .summary = "5Gophers CSV, a trace per run; carriers side by side, a trace per column",
        .unit = "fixed: Mbit/s",
        .kind = "achieved throughput",
        .takes_rate_column = true,
        .read = read_5gophers},
    ReaderInfo{
        .id = "lumos5g-raw",
        .summary = "Lumos5G 1.0 CSV of 19 columns, a trace per run, mobility mode and direction",
        .unit = "fixed: Mbit/s",
        .kind = "achieved throughput",
        .read = read_lumos5g_raw},
    ReaderInfo{.id = "nyu-mets",
               .summary = "NYU-METS subway LTE: a rate and its unit per second, no header",
               .unit = "in each row: Mbits/sec ...",
               .kind = "achieved throughput",
               .read = read_nyu_mets},
    ReaderInfo{
        .id = "spark",
        .summary = "SparkTraces: time, bandwidth, and round trip and loss; with delay and loss",
        .unit = "fixed: s and Mbit/s",
        .kind = "achieved throughput",
        .takes_stamps = true,
        .read = read_spark},
    ReaderInfo{.id = "starlink",
               .summary = "Starlink on the Autobahn, CSV; needs --rate-column",
               .unit = "fixed: Mbit/s",
               .kind = "achieved throughput",
               .takes_rate_column = true,
               .read = read_starlink},
    ReaderInfo{.id = "fcc-mba",
               .summary = "FCC curr_webget and curr_httpgetmt CSV, a trace per unit and target",
               .unit = "fixed: B/s",
               .kind = "achieved throughput",
               .read = read_fcc_mba},
    ReaderInfo{
        .id = "hsdpa",
        .summary = "Norway's HSDPA logs: six columns, bytes per ms, the first in s since 1970",
        .unit = "fixed: B per ms",
        .kind = "achieved throughput",
        .read = read_hsdpa},
    ReaderInfo{.id = "ghent",
               .summary = "Ghent's 4G logs: six columns, bytes per ms, the first in ms since 1970",
               .unit = "fixed: B per ms",
               .kind = "achieved throughput",
               .read = read_ghent},
    ReaderInfo{.id = "puffer",
               .summary = "Puffer video_sent and video_acked CSV, a trace per stream; with delay",
               .unit = "fixed: B and ns",
               .kind = "achieved throughput",
               .read = read_puffer},
    ReaderInfo{.id = "cellreplay",
               .summary = "CellReplay light (time, delay, arrivals) and heavy traces; with delay",
               .unit = "fixed: ms and 1400 B packets",
               .kind = "capacity",
               .read = read_cellreplay},
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
