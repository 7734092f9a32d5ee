#include "codec/container/rate_control.h"

#include <map>
#include <queue>
#include <utility>

#include "codec/container/layout.h"

namespace sluice {
namespace {

using ChainKey = std::pair<std::size_t, SectionKind>;  // first entry and kind: what a chain codes

ChainKey key_of(const SectionCost& section) {
  return {section.entry.first_entry, section.entry.kind};
}

DataSize cost_of(const SectionCost& section) {
  return section.entry.size + DataSize::bytes(container::kSectionBytes);
}

// A refinement that may be taken next.
struct Candidate {
  double gain_per_byte = 0;
  std::size_t section = 0;
  // The best last, as std::priority_queue wants it; of equals the first section is the best.
  bool operator<(const Candidate& other) const {
    if (gain_per_byte != other.gain_per_byte) return gain_per_byte < other.gain_per_byte;
    return section > other.section;
  }
};

}  // namespace

std::vector<bool> choose_sections(std::span<const SectionCost> sections, DataSize bases_size,
                                  DataSize max_size) {
  std::vector<bool> keep(sections.size(), false);
  std::map<ChainKey, std::vector<std::size_t>> chains;  // of sections, from the base up
  for (std::size_t i = 0; i < sections.size(); ++i) {
    chains[key_of(sections[i])].push_back(i);
    keep[i] = sections[i].entry.refinement == 0;
  }
  std::priority_queue<Candidate> candidates;
  const auto offer = [&](const std::vector<std::size_t>& chain, std::size_t next) {
    if (next >= chain.size()) return;
    const SectionCost& section = sections[chain[next]];
    const double gain = sections[chain[next - 1]].distortion - section.distortion;
    candidates.push({gain / static_cast<double>(cost_of(section).bytes()), chain[next]});
  };
  for (const auto& [key, chain] : chains) offer(chain, 1);
  DataSize size = bases_size;
  while (!candidates.empty()) {
    const std::size_t best = candidates.top().section;
    candidates.pop();
    if (size + cost_of(sections[best]) > max_size) continue;
    size += cost_of(sections[best]);
    keep[best] = true;
    offer(chains[key_of(sections[best])],
          static_cast<std::size_t>(sections[best].entry.refinement) + 1);
  }
  return keep;
}

}  // namespace sluice
