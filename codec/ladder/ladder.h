// The ladder: every judged level of every codec from the profiles given, as rungs and series.
// Where in the flow: read from codec profiles, shown by ladder_table.h and ladder_chart.h.
// Surprise: one codec can be several series, one per profile: coded with another model profile, or
// without queries, the same levels have other facts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/decode_times.h"
#include "codec/profile.h"

namespace sluice {

struct Rung {
  std::string profile, model;  // where the facts stand, and the geometry they hold for
  LevelFacts facts;            // with `judged`
  std::map<std::string, LinearTime> decode;  // by device
};

// The rungs of one codec in one profile, most bits first.
struct LadderSeries {
  std::string profile, codec;
  std::vector<Rung> rungs;
  bool is_of_several = false;  // another profile has a series of this codec
  // The codec, with the profile where that tells series apart.
  [[nodiscard]] std::string name() const;
};

struct Ladder {
  std::vector<LadderSeries> series;  // in the order of the profiles, then by their finest rung
  bool has_several_profiles = false;
};

// Levels that no model judged are left out; an error when none is left. Decode times: those of the
// profiles, on their own devices, and of `devices`.
[[nodiscard]] Result<Ladder> make_ladder(const std::vector<CodecProfile>& profiles,
                                         const std::vector<DecodeTimes>& devices);
// The shipped profiles with judged levels.
[[nodiscard]] Result<std::vector<CodecProfile>> judged_profiles();

// Bits per element at which a series does this mean KL, between two rungs along a straight line in
// (bits, log KL); nullopt outside its rungs.
[[nodiscard]] std::optional<double> bits_at_kl(const LadderSeries& series, double kl);

// What each series needs for the damage of one rung.
struct EqualDamage {
  std::string codec_level;  // the rung compared with
  double kl = 0, bits_per_element = 0;
  std::vector<std::pair<const LadderSeries*, double>> bits;  // of the series that reach it
};
// The rung by "codec@level", from the first series that has it.
[[nodiscard]] Result<EqualDamage> compare_at(const Ladder& ladder, const std::string& codec_level);

}  // namespace sluice
