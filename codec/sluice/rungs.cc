#include "codec/sluice/rungs.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::ladder {
namespace {

constexpr const char* kEmbedded = "embedded";
constexpr int kEmbeddedDigits = 4;
constexpr int kDefaultRung = 7;

// 3^2, 3^(5/3), …, 3^-4; the norm in spec.md.
constexpr float kSteps[kNumRungs] = {9.0F,          6.24025147F,   4.32674871F,   3.0F,
                                     2.08008382F,   1.44224957F,   1.0F,          0.693361274F,
                                     0.480749857F,  0.333333333F,  0.231120425F,  0.160249952F,
                                     0.111111111F,  0.0770401416F, 0.0534166508F, 0.037037037F,
                                     0.0256800472F, 0.0178055503F, 0.0123456790F};

constexpr float kRoot = 1.41421356F;
constexpr float kClassFactors[kClassHigh - kClassLow + 1] = {
    0.0625F, 0.0625F * kRoot, 0.125F, 0.125F * kRoot, 0.25F, 0.25F * kRoot, 0.5F, 0.5F * kRoot,
    1.0F,    kRoot,           2.0F,   2.0F * kRoot,   4.0F,  4.0F * kRoot,  8.0F};

struct Level {
  CodecLevelInfo info;
  LevelPlanes planes;
};

// Wide symbols are split: tables end at some hundred steps, and important tokens take steps a
// sixteenth as large.
int base_digits_of(int rung) {
  return rung <= 12 ? 0 : (rung - 10) / kDigitRungs;
}

const char* about(int rung) {
  return rung == 1 ? ", the coarsest" : rung == kNumRungs ? ", the finest" : "";
}

std::vector<Level> make_levels() {
  std::vector<Level> levels;
  for (int rung = kNumRungs; rung >= 1; --rung) {
    const int digits = base_digits_of(rung);
    levels.push_back(
        {.info = {.name = fmt::format("rung-{}", rung),
                  .summary = fmt::format("steps of 3^({}/3){}", 7 - rung, about(rung)),
                  .refinements = 0},
         .planes = {
             .base_rung = rung - kDigitRungs * digits, .base_digits = digits, .refinements = 0}});
    if (rung != kFinestCommonRung) continue;
    levels.push_back({.info = {.name = kEmbedded,
                               .summary = "rung 1 and four digits: rungs 1, 4, 7, 10, 13 in one",
                               .refinements = kEmbeddedDigits},
                      .planes = {.base_rung = kFinestCommonRung - kDigitRungs * kEmbeddedDigits,
                                 .base_digits = 0,
                                 .refinements = kEmbeddedDigits}});
  }
  return levels;
}

const std::vector<Level>& all_levels() {
  static const std::vector<Level> levels = make_levels();
  return levels;
}

}  // namespace

std::vector<CodecLevelInfo> levels() {
  std::vector<CodecLevelInfo> infos;
  for (const Level& level : all_levels()) infos.push_back(level.info);
  return infos;
}

std::size_t default_level() {
  const auto& levels = all_levels();
  const auto found = std::find_if(levels.begin(), levels.end(), [](const Level& level) {
    return level.planes.refinements == 0 && level.planes.rung(0) == kDefaultRung;
  });
  return static_cast<std::size_t>(found - levels.begin());
}

LevelPlanes planes_of(std::size_t level) {
  return all_levels()[level].planes;
}

float step_of(int rung) {
  return kSteps[rung - 1];
}

float class_factor(int k) {
  return kClassFactors[k - kClassLow];
}

}  // namespace sluice::ladder
