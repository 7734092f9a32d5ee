// How much the number of different tables costs the entropy decoder's loops: pairs or single
// symbols of one group of columns, decoded again and again, all columns with one table or each with
// its own. usage: table_locality     (processor time, the best of 40 rounds, one core)
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "base/random.h"
#include "base/units.h"
#include "codec/entropy/class_family.h"
#include "codec/entropy/lane_tables.h"

namespace sluice::entropy {
namespace {

constexpr std::int64_t kRows = 256;
constexpr std::size_t kGroups = 64;
constexpr int kRounds = 40;

// One group's stream, ready to be decoded.
struct Group {
  DecodeLanes lanes;
  DecodeState state;
  std::vector<std::byte> words;
};

int any_paired_table(RandomStream& random) {
  const ClassFamily& family = class_family();
  for (;;) {
    const auto scale = 10 + static_cast<std::int32_t>(random.below(7));  // sigma 0.68 to 1.92
    const int table = family.table(scale, static_cast<std::int32_t>(random.below(12)));
    if (family.tables.has_pairs(table)) return table;
  }
}

std::int16_t draw(const Frequencies& table, RandomStream& random) {
  auto slot = static_cast<std::int64_t>(random.below(kTableSlots));
  std::int32_t symbol = table.first;
  for (const std::uint16_t count : table.counts) {
    if ((slot -= count) < 0) break;
    ++symbol;
  }
  return static_cast<std::int16_t>(symbol);
}

Group make_group(bool has_one_table, bool paired, RandomStream& random) {
  const TableSet& tables = class_family().tables;
  const int shared = class_family().table(14, 0);
  LaneTables lanes(tables);
  std::vector<std::int16_t> symbols(kRows * kLanes);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const int table = has_one_table ? shared : any_paired_table(random);
    lanes.add(table, 0);
    for (std::size_t row = 0; row < kRows; ++row) {
      symbols[row * kLanes + lane] = draw(tables.frequencies(table), random);
    }
  }
  constexpr std::size_t kMargin = 64;  // kernels write and read whole registers
  std::vector<std::byte> room(symbols.size() * kWordBytes + 2 * kMargin);
  EncodeState state;
  std::fill(std::begin(state.lanes), std::end(state.lanes), kLowerBound);
  state.words = room.data() + room.size() - kMargin;
  const Kernels& kernels = kernels_of(best_backend());
  if (paired) {
    kernels.encode_pairs(state, lanes.encode_lanes(true), kRows / 2, symbols.data());
  } else {
    kernels.encode_singles(state, lanes.encode_lanes(false), kRows, symbols.data());
  }
  Group group{.lanes = lanes.decode_lanes(paired), .state = {}, .words = {}};
  std::copy(std::begin(state.lanes), std::end(state.lanes), std::begin(group.state.lanes));
  group.words.assign(state.words, room.data() + room.size());
  return group;
}

Duration processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// Elements per second.
double measure(bool has_one_table, bool paired) {
  RandomStream random(1, "table-locality", 0);
  std::vector<Group> groups;
  while (groups.size() < kGroups) groups.push_back(make_group(has_one_table, paired, random));
  std::vector<std::int16_t> symbols(kRows * kLanes);
  Duration best = Duration::max();
  for (int round = 0; round < kRounds; ++round) {
    const Duration start = processor_time();
    for (const Group& group : groups) {
      DecodeState state = group.state;
      state.words = group.words.data();
      state.words_end = group.words.data() + group.words.size();
      const Kernels& kernels = kernels_of(best_backend());
      if (paired) {
        (void)kernels.decode_pairs(state, group.lanes, kRows / 2, symbols.data());
      } else {
        (void)kernels.decode_singles(state, group.lanes, kRows, symbols.data());
      }
    }
    best = std::min(best, processor_time() - start);
  }
  const double seconds = std::chrono::duration<double>(best).count();
  return static_cast<double>(kGroups * symbols.size()) / seconds;
}

}  // namespace
}  // namespace sluice::entropy

int main() {
  using sluice::entropy::measure;
  for (const bool paired : {true, false}) {
    fmt::print(
        "{}, {}: all columns with one table {:.2f}e9 element/s, each with its own {:.2f}e9\n",
        paired ? "decode_pairs" : "decode_singles", sluice::to_text(sluice::best_backend()),
        measure(true, paired) * 1e-9, measure(false, paired) * 1e-9);
  }
}
