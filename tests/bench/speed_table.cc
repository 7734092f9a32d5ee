#include "tests/bench/speed_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace sluice::bench {
namespace {

constexpr double kBytesPerElement = 2;  // fp16

std::optional<double> rate_of(const std::vector<SpeedRow>& rows, const SpeedRow& like,
                              const std::string& name, const std::string& backend,
                              const std::string& direction) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const SpeedRow& row) {
    return row.name == name && row.backend == backend && row.direction == direction &&
           row.cores == like.cores;
  });
  if (found == rows.end()) return std::nullopt;
  return found->elements_per_sec;
}

// The row's rate over what it is compared with; empty where that was not measured.
struct Ratios {
  std::optional<double> ceiling, scalar, zstd, arithmetic;
};

Ratios ratios_of(const SpeedReport& report, const SpeedRow& row) {
  const auto over = [&](std::optional<double> rate) -> std::optional<double> {
    if (!rate) return std::nullopt;
    return row.elements_per_sec / *rate;
  };
  const std::string ceiling = row.direction == kEncode ? "read" : "write";
  return {
      .ceiling = over(rate_of(report.ceilings, row, "streaming " + ceiling, "", ceiling)),
      .scalar = over(rate_of(report.codecs, row, row.name, "scalar", row.direction)),
      .zstd = over(rate_of(report.peers, row, "zstd-1", "", row.direction)),
      .arithmetic = over(rate_of(report.peers, row, "arithmetic", "", row.direction)),
  };
}

Table::Cell cell(std::optional<double> value, int digits) {
  if (!value) return {"", ""};
  return {fmt::format("{:.{}f}", *value, digits), fmt::format("{}", *value)};
}

// function(row, is a codec or a peer)
template <typename Function>
void for_each_row(const SpeedReport& report, Function function) {
  for (const SpeedRow& row : report.ceilings) function(row, false);
  for (const SpeedRow& row : report.codecs) function(row, true);
  for (const SpeedRow& row : report.peers) function(row, true);
}

}  // namespace

Table table_of(const SpeedReport& report) {
  Table table;
  table.column("name", "what", Align::kLeft)
      .column("backend", "backend", Align::kLeft)
      .column("direction", "direction", Align::kLeft)
      .column("cores", "cores")
      .column("bits_per_element", "bits/element")
      .column("elements_per_sec", "1e9 element/s")
      .column("fp16_bytes_per_sec", "GB/s of fp16")
      .column("ceiling_fraction", "of ceiling")
      .column("scalar_ratio", "x scalar")
      .column("zstd_ratio", "x zstd-1")
      .column("arithmetic_ratio", "x arithmetic");
  for_each_row(report, [&](const SpeedRow& row, bool is_coder) {
    const Ratios ratios = is_coder ? ratios_of(report, row) : Ratios{};
    const double rate = row.elements_per_sec;
    table.row({row.name,
               row.backend,
               row.direction,
               fmt::format("{}", row.cores),
               cell(row.bits_per_element, 2),
               {fmt::format("{:.3f}", rate / 1e9), fmt::format("{}", rate)},
               {fmt::format("{:.2f}", rate * kBytesPerElement / 1e9),
                fmt::format("{}", rate * kBytesPerElement)},
               cell(ratios.ceiling, 3),
               cell(ratios.scalar, 1),
               cell(ratios.zstd, 1),
               cell(ratios.arithmetic, 0)});
  });
  table.note(
      "of ceiling: decoding over the streaming write, encoding over the streaming read, of "
      "as many cores.");
  table.note(
      "zstd and the arithmetic coder code the symbols of cachegen-released level 2 and stop "
      "there: no scaling, no fp16.");
  return table;
}

nlohmann::json json_of(const SpeedReport& report) {
  const auto number = [](std::optional<double> value) -> nlohmann::json {
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
  };
  nlohmann::json rows = nlohmann::json::array();
  for_each_row(report, [&](const SpeedRow& row, bool is_coder) {
    const Ratios ratios = is_coder ? ratios_of(report, row) : Ratios{};
    rows.push_back({{"name", row.name},
                    {"backend", row.backend},
                    {"direction", row.direction},
                    {"cores", row.cores},
                    {"bits_per_element", row.bits_per_element},
                    {"elements_per_sec", row.elements_per_sec},
                    {"fp16_bytes_per_sec", row.elements_per_sec * kBytesPerElement},
                    {"ceiling_fraction", number(ratios.ceiling)},
                    {"scalar_ratio", number(ratios.scalar)},
                    {"zstd_ratio", number(ratios.zstd)},
                    {"arithmetic_ratio", number(ratios.arithmetic)}});
  });
  return {{"source", "measured"}, {"head", report.head}, {"rows", rows}};
}

}  // namespace sluice::bench
