#include "codec/ladder/ladder.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/json_reader.h"
#include "base/names.h"

namespace sluice {
namespace {

Rung rung_of(const CodecProfile& profile, const LevelFacts& facts,
             const std::vector<DecodeTimes>& devices) {
  Rung rung{.profile = profile.id, .model = profile.model, .facts = facts, .decode = {}};
  if (facts.decode) rung.decode.emplace(profile.device, *facts.decode);
  for (const DecodeTimes& device : devices) {
    if (const DecodeTimeEntry* entry = device.find(facts.codec, facts.level))
      rung.decode.emplace(device.device, entry->decode);
  }
  return rung;
}

void add_rung(std::vector<LadderSeries>& series, Rung rung) {
  auto of_codec = std::find_if(series.begin(), series.end(), [&](const LadderSeries& known) {
    return known.profile == rung.profile && known.codec == rung.facts.codec;
  });
  if (of_codec == series.end())
    of_codec = series.insert(series.end(),
                             {.profile = rung.profile, .codec = rung.facts.codec, .rungs = {}});
  of_codec->rungs.push_back(std::move(rung));
}

}  // namespace

std::string LadderSeries::name() const {
  return is_of_several ? codec + " (" + profile + ")" : codec;
}

Result<Ladder> make_ladder(const std::vector<CodecProfile>& profiles,
                           const std::vector<DecodeTimes>& devices) {
  Ladder ladder;
  for (const CodecProfile& profile : profiles) {
    std::vector<LadderSeries> own;
    for (const LevelFacts& facts : profile.levels) {
      if (facts.judged) add_rung(own, rung_of(profile, facts, devices));
    }
    for (LadderSeries& series : own) {
      std::stable_sort(series.rungs.begin(), series.rungs.end(), [](const Rung& a, const Rung& b) {
        return a.facts.bits_per_element > b.facts.bits_per_element;
      });
      ladder.series.push_back(std::move(series));
    }
  }
  if (ladder.series.empty()) {
    return error_in("--profile", "no level in them was judged by a model",
                    "give a profile that `./sluice codec judge` wrote");
  }
  for (LadderSeries& series : ladder.series) {
    series.is_of_several =
        1 < std::count_if(ladder.series.begin(), ladder.series.end(),
                          [&](const LadderSeries& other) { return other.codec == series.codec; });
  }
  ladder.has_several_profiles = std::any_of(
      ladder.series.begin(), ladder.series.end(),
      [&](const LadderSeries& series) { return series.profile != ladder.series.front().profile; });
  return ladder;
}

Result<std::vector<CodecProfile>> judged_profiles() {
  const auto home = sluice_home();
  if (!home) return home.error();
  const auto ids = list_json_ids(*home / "codec" / "profiles");
  if (!ids) return ids.error();
  std::vector<CodecProfile> judged;
  for (const std::string& id : *ids) {
    auto profile = find_profile(id);
    if (!profile) return profile.error();
    const bool is_scaled = std::any_of(
        profile->levels.begin(), profile->levels.end(),
        [](const LevelFacts& level) { return level.damage_source == FactSource::kScaled; });
    const bool has_judged =
        std::any_of(profile->levels.begin(), profile->levels.end(),
                    [](const LevelFacts& level) { return level.judged.has_value(); });
    if (has_judged && !is_scaled) judged.push_back(*std::move(profile));
  }
  return judged;
}

std::optional<double> bits_at_kl(const LadderSeries& series, double kl) {
  for (std::size_t i = 1; i < series.rungs.size(); ++i) {
    const LevelFacts& finer = series.rungs[i - 1].facts;
    const LevelFacts& coarser = series.rungs[i].facts;
    if (!(finer.damage <= kl && kl <= coarser.damage) || finer.damage <= 0) continue;
    const double whole = std::log(coarser.damage / finer.damage);
    const double share = whole > 0 ? std::log(kl / finer.damage) / whole : 0;
    return finer.bits_per_element + share * (coarser.bits_per_element - finer.bits_per_element);
  }
  return std::nullopt;
}

Result<EqualDamage> compare_at(const Ladder& ladder, const std::string& codec_level) {
  std::vector<std::string> known;
  const Rung* found = nullptr;
  for (const LadderSeries& series : ladder.series) {
    for (const Rung& rung : series.rungs) {
      known.push_back(rung.facts.id());
      if (found == nullptr && rung.facts.id() == codec_level) found = &rung;
    }
  }
  if (found == nullptr) {
    return error_in("--at-kl-of", "`" + codec_level + "` is no judged level of these profiles",
                    suggest_name(codec_level, known));
  }
  EqualDamage equal{.codec_level = codec_level,
                    .kl = found->facts.damage,
                    .bits_per_element = found->facts.bits_per_element,
                    .bits = {}};
  for (const LadderSeries& series : ladder.series) {
    if (const auto bits = bits_at_kl(series, equal.kl)) equal.bits.emplace_back(&series, *bits);
  }
  return equal;
}

}  // namespace sluice
