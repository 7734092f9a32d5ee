#include <fmt/format.h>

#include <set>

#include "analysis/report/sections.h"
#include "base/drawing/markup.h"

namespace sluice {
namespace {

constexpr std::size_t kMaxHashes = 12;

void add_command(Markup& out, std::string_view what, const std::vector<std::string>& arguments) {
  out.open("li").text(what).open("pre").leaf("code", command_text(arguments)).close().close();
}

void add_commands(const ReportBlock& block, const BlockPlace& place, Markup& out) {
  out.leaf("h3", "Make it again").open("ul", {{"class", "commands"}});
  std::set<std::vector<std::string>> commands;
  for (const CampaignFacts& campaign : block.campaigns) {
    if (!campaign.command.empty() && commands.insert(campaign.command).second) {
      add_command(out, "The runs:", campaign.command);
    }
  }
  add_command(out, "The verdicts from this store:",
              {"sluice-compare", "--store", place.store_file, "--scenario", block.score.scenario,
               "--tier", block.score.tier});
  if (block.load && !block.load->timelines.empty()) {
    const PolicyTimeline& first = block.load->timelines.front();
    add_command(
        out,
        "How the load above came about under its first policy, and the command for its run alone:",
        {"sluice-explain", "--store", place.store_file,
         fmt::format("load:{}/{}", first.run.value, first.load.index)});
  }
  out.close();
}

// kind, name and SHA-256 of everything the results depend on.
using Hashes = std::set<std::array<std::string, 3>>;

void add_hashes(const ReportBlock& block, Markup& out) {
  Hashes traces, profiles;
  for (const auto& runs : block.runs) {
    for (const RunRow& run : runs) {
      if (run.link_trace)
        traces.insert({"link trace", run.link_trace->name, run.link_trace->sha256});
      for (const ProfileFacts& p : run.profiles) profiles.insert({"profile", p.name, p.sha256});
    }
  }
  out.leaf("h3", "What it was made from")
      .open("div", {{"class", "scroll"}})
      .open("table", {{"class", "hashes"}})
      .open("tbody");
  const auto add = [&](const std::array<std::string, 3>& row) {
    out.open("tr").leaf("td", {{"class", "left"}}, row[0]).leaf("td", {{"class", "left"}}, row[1]);
    out.open("td", {{"class", "left"}}).leaf("code", row[2]).close().close();
  };
  add({"scenario", block.score.scenario, block.score.scenario_sha256});
  for (const auto& row : profiles) add(row);
  std::size_t num_shown = 0;
  for (const auto& row : traces) {
    if (num_shown++ < kMaxHashes) add(row);
  }
  out.close().close().close();
  if (traces.size() > kMaxHashes) {
    out.leaf("p", {{"class", "caption"}},
             fmt::format("And {} more link traces, all in the store.", traces.size() - kMaxHashes));
  }
}

// One sentence or two per tier; what a tier models is in its folder's README.
const char* tier_limits(std::string_view tier) {
  if (tier == "fluid")
    return "Tier fluid: data flows like a fluid; there are no packets, no queue and no loss on the "
           "link.";
  if (tier == "burst")
    return "Tier burst: data moves in bursts of 64 KB, so that queue and loss are seen per burst, "
           "not per packet.";
  if (tier == "packet")
    return "Tier packet: every packet is queued, lost and acknowledged by itself; the transport is "
           "ours, with CUBIC's window.";
  if (tier == "tcp")
    return "Tier tcp: every packet is queued, lost and acknowledged by itself; the transport is "
           "ns-3's own TCP over its Internet stack.";
  return nullptr;
}

void add_limits(const ReportBlock& block, Markup& out) {
  out.leaf("h3", "What is not modelled").open("ul");
  if (const char* limits = tier_limits(block.score.tier)) out.leaf("li", limits);
  for (const char* limit : {"Quality is the damage that the codec profile states, averaged over "
                            "chunks; no model is run on the decoded caches "
                            "of these loads.",
                            "Encoding, and reading the versions at the source, take no time: every "
                            "version is stored before a load begins.",
                            "The target is on the first token; what follows it is not simulated.",
                            "Other traffic on the link, other work on the GPU and failures are "
                            "there only as far as the scenario has them."}) {
    out.leaf("li", limit);
  }
  out.close();
}

}  // namespace

std::string foot_section(const ReportBlock& block, const BlockPlace& place) {
  Markup out;
  out.open("footer");
  add_commands(block, place, out);
  add_hashes(block, out);
  add_limits(block, out);
  return out.close().take();
}

}  // namespace sluice
