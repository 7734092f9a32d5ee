#include "analysis/report/page.h"

#include <fmt/format.h>

#include "analysis/report/sections.h"
#include "analysis/report/style.h"
#include "base/drawing/markup.h"

namespace sluice {
namespace {

void add_head(const ReportOptions& options, Markup& out) {
  out.open("head");
  out.empty("meta", {{"charset", "utf-8"}});
  out.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  out.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  // A browser refuses to fetch anything for this page, whatever its text says.
  out.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                     {"content", "default-src 'none'; style-src 'unsafe-inline'"}});
  out.leaf("title", options.title);
  out.open("style").add(style_sheet()).close();
  out.close();
}

std::string anchor_of(std::size_t index) {
  return fmt::format("block-{}", index + 1);
}

void add_contents(const std::vector<ReportBlock>& blocks, Markup& out) {
  if (blocks.size() < 2) return;
  out.open("nav").open("ul");
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Score& score = blocks[i].score;
    out.open("li").leaf(
        "a", {{"href", "#" + anchor_of(i)}},
        fmt::format("{} on tier {}, seed {}", score.scenario, score.tier, score.seed));
    out.close();
  }
  out.close().close();
}

void add_block(const ReportBlock& block, const BlockPlace& place, Markup& out) {
  out.open("article", {{"class", "block"}, {"id", place.anchor}});
  out.add(head_section(block));
  out.add(policy_table_section(block));
  out.add(violation_figure(block));
  out.add(ttft_figure(block));
  out.add(load_section(block, place));
  out.add(difference_figure(block));
  out.add(foot_section(block, place));
  out.close();
}

}  // namespace

std::string page(const std::vector<ReportBlock>& blocks, const ReportOptions& options,
                 const std::string& store_file) {
  Markup out;
  out.open("html", {{"lang", "en"}});
  add_head(options, out);
  out.open("body").open("main").leaf("h1", options.title);
  add_contents(blocks, out);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    add_block(blocks[i], {.store_file = store_file, .anchor = anchor_of(i)}, out);
  }
  out.close().close().close();
  return "<!DOCTYPE html>\n" + out.take();
}

}  // namespace sluice
