#include "codec/ladder/ladder_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace sluice {
namespace {

using nlohmann::ordered_json;

std::vector<std::string> devices_of(const Ladder& ladder) {
  std::set<std::string> devices;
  for (const LadderSeries& series : ladder.series) {
    for (const Rung& rung : series.rungs) {
      for (const auto& [device, time] : rung.decode) devices.insert(device);
    }
  }
  return {devices.begin(), devices.end()};
}

Table::Cell number(double value, int digits) {
  return {fmt::format("{:.{}f}", value, digits), fmt::format("{}", value)};
}

Table::Cell decode_cell(const Rung& rung, const std::string& device) {
  const auto found = rung.decode.find(device);
  if (found == rung.decode.end()) return "";
  const double ns = found->second.ns_per_element;
  const bool is_measured = found->second.source == FactSource::kMeasured;
  return {fmt::format("{}{:.3g}", is_measured ? "" : "~", ns), fmt::format("{}", ns)};
}

Table rung_columns(const Ladder& ladder, const std::vector<std::string>& devices) {
  Table table;
  table.column("level", "codec@level", Align::kLeft);
  table.column("profile", ladder.has_several_profiles ? "profile" : "", Align::kLeft);
  table.column("bits_per_element", "bit/element")
      .column("delta_ppl_percent", "dppl %")
      .column("kl_mean", "KL mean")
      .column("kl_p99", "KL p99")
      .column("top1_percent", "top-1 %")
      .column("top1_low_percent", "")
      .column("top1_high_percent", "")
      .column("greedy_match", "greedy")
      .column("question_kl_mean", "question KL")
      .column("repeat_kl_mean", "repeat KL")
      .column("repeat_delta_ppl_percent", "repeat dppl %")
      .column("repeat_top1_percent", "repeat top-1 %");
  for (const std::string& device : devices)
    table.column("decode_ns_per_element " + device, "ns/el " + device);
  table.column("source", "source", Align::kLeft);
  return table;
}

std::vector<Table::Cell> rung_cells(const Rung& rung) {
  const JudgedContinuation& same = rung.facts.judged->same_document;
  const JudgedContinuation& repeat = rung.facts.judged->repeat;
  return {rung.facts.id(),
          rung.profile,
          number(rung.facts.bits_per_element, 3),
          number(same.delta_ppl_percent.mean, 2),
          number(same.kl.mean, 5),
          number(same.kl_p99, 4),
          number(100 * same.top1.mean, 2),
          number(100 * same.top1.low, 2),
          number(100 * same.top1.high, 2),
          number(same.greedy_match, 1),
          number(rung.facts.judged->unrelated_question.kl.mean, 5),
          number(repeat.kl.mean, 5),
          number(repeat.delta_ppl_percent.mean, 2),
          number(100 * repeat.top1.mean, 2)};
}

Table rung_table(const Ladder& ladder) {
  const std::vector<std::string> devices = devices_of(ladder);
  Table table = rung_columns(ladder, devices);
  for (const LadderSeries& series : ladder.series) {
    for (const Rung& rung : series.rungs) {
      std::vector<Table::Cell> cells = rung_cells(rung);
      for (const std::string& device : devices) cells.push_back(decode_cell(rung, device));
      cells.emplace_back(to_text(rung.facts.damage_source));
      table.row(std::move(cells));
    }
  }
  if (!devices.empty()) table.note("ns/el: decoding one element; ~ is not measured.");
  return table;
}

std::string percent_less(double bits, double reference) {
  return fmt::format("{:+.0f} %", 100 * (bits / reference - 1));
}

Table equal_table(const EqualDamage& equal) {
  Table table;
  table.column("series", "codec", Align::kLeft)
      .column("bits_per_element", "bit/element")
      .column("change", "bytes");
  for (const auto& [series, bits] : equal.bits) {
    table.row({series->name(), number(bits, 3), percent_less(bits, equal.bits_per_element)});
  }
  return table;
}

const Rung* find_rung(const Ladder& ladder, const std::string& id) {
  for (const LadderSeries& series : ladder.series) {
    for (const Rung& rung : series.rungs) {
      if (rung.facts.id() == id) return &rung;
    }
  }
  return nullptr;
}

double megabytes(double bits_per_element, std::int64_t elements) {
  return bits_per_element * static_cast<double>(elements) / 8e6;
}

Table published_table(const LadderPage& page) {
  Table table;
  table.column("codec", "published", Align::kLeft)
      .column("megabytes", "MB")
      .column("bits_per_element", "bit/element")
      .column("value", "score kept %")
      .column("ours", "ours", Align::kLeft);
  table.column("our_bits_per_element", "bit/element")
      .column("our_megabytes", "MB at our bits")
      .column("our_kl", "KL mean")
      .column("our_top1", "top-1 %");
  for (const PublishedPoint& point : page.published.points) {
    if (!point.megabytes) continue;
    const Rung* ours = find_rung(page.ladder, point.beside);
    const auto of_ours = [&](double value, int digits) {
      return ours == nullptr ? Table::Cell("") : number(value, digits);
    };
    const double bits = ours == nullptr ? 0 : ours->facts.bits_per_element;
    const Judged judged = ours == nullptr ? Judged() : *ours->facts.judged;
    table.row({point.codec, number(*point.megabytes, 0), number(point.bits_per_element, 2),
               number(point.value, 0), ours == nullptr ? "" : point.beside, of_ours(bits, 2),
               of_ours(megabytes(bits, page.context_elements), 0),
               of_ours(judged.same_document.kl.mean, 4),
               of_ours(100 * judged.same_document.top1.mean, 1)});
  }
  return table;
}

ordered_json rung_json(const Rung& rung) {
  ordered_json decode = ordered_json::array();
  for (const auto& [device, time] : rung.decode) {
    decode.push_back({{"device", device},
                      {"fixed_ns", to_ns(time.fixed)},
                      {"ns_per_element", time.ns_per_element},
                      {"source", to_text(time.source)}});
  }
  return {{"profile", rung.profile},
          {"model", rung.model},
          {"codec", rung.facts.codec},
          {"level", rung.facts.level},
          {"bits_per_element", rung.facts.bits_per_element},
          {"bits_per_element_sd", rung.facts.bits_per_element_sd},
          {"size_source", to_text(rung.facts.size_source)},
          {"damage_source", to_text(rung.facts.damage_source)},
          {"judged", to_json(*rung.facts.judged)},
          {"decode", decode}};
}

ordered_json page_json(const LadderPage& page) {
  ordered_json rungs = ordered_json::array(), points = ordered_json::array();
  for (const LadderSeries& series : page.ladder.series) {
    for (const Rung& rung : series.rungs) rungs.push_back(rung_json(rung));
  }
  for (const PublishedPoint& point : page.published.points) {
    ordered_json json{{"codec", point.codec},
                      {"model", point.model},
                      {"bits_per_element", point.bits_per_element},
                      {"measure", to_text(point.measure)},
                      {"value", point.value},
                      {"beside", point.beside},
                      {"source", point.source}};
    if (point.megabytes) json["megabytes"] = *point.megabytes;
    points.push_back(std::move(json));
  }
  ordered_json json{{"rungs", rungs}, {"published", points}};
  if (!page.equal) return json;
  ordered_json bits = ordered_json::array();
  for (const auto& [series, at] : page.equal->bits) {
    bits.push_back({{"profile", series->profile},
                    {"codec", series->codec},
                    {"bits_per_element", at},
                    {"change_percent", 100 * (at / page.equal->bits_per_element - 1)}});
  }
  json["equal_kl"] = {
      {"level", page.equal->codec_level}, {"kl_mean", page.equal->kl}, {"series", bits}};
  return json;
}

}  // namespace

void print_ladder(const LadderPage& page, TableFormat format, std::ostream& out) {
  if (format == TableFormat::kJson) {
    out << page_json(page).dump(2, ' ', false, ordered_json::error_handler_t::replace) << "\n";
    return;
  }
  const Table rungs = rung_table(page.ladder);
  if (format == TableFormat::kCsv) return rungs.print_csv(out);
  rungs.print_text(out);
  if (page.equal) {
    out << fmt::format("\nAt the mean KL of {} ({:.5f} at {:.3f} bit/element):\n",
                       page.equal->codec_level, page.equal->kl, page.equal->bits_per_element);
    equal_table(*page.equal).print_text(out);
  }
  out << fmt::format("\nPublished for {} tokens of {}, and ours beside them:\n",
                     page.published.context_tokens, page.published.context_model);
  published_table(page).print_text(out);
}

}  // namespace sluice
