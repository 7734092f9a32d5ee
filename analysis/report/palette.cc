#include "analysis/report/palette.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace sluice {
namespace {

constexpr std::size_t kNumColours = 6;
constexpr std::size_t kNumLevelShades = 16;

struct Rgb {
  std::uint8_t red, green, blue;
};

// After Okabe and Ito (2008), darkened for white and lightened for black to a contrast of at
// least 3.
constexpr std::array<Rgb, kNumColours> kPoliciesOnWhite{{{0x00, 0x72, 0xB2},
                                                         {0xD5, 0x5E, 0x00},
                                                         {0x00, 0x85, 0x63},
                                                         {0xA8, 0x4B, 0x85},
                                                         {0x9A, 0x70, 0x00},
                                                         {0x3C, 0x3C, 0x3C}}};
constexpr std::array<Rgb, kNumColours> kPoliciesOnBlack{{{0x56, 0xB4, 0xE9},
                                                         {0xFF, 0x8A, 0x47},
                                                         {0x2F, 0xD0, 0xA5},
                                                         {0xE6, 0x9A, 0xC8},
                                                         {0xF0, 0xC6, 0x3B},
                                                         {0xE0, 0xE0, 0xE0}}};
constexpr std::array<const char*, kNumColours> kDashes{"none",    "8 3",   "2 2.5",
                                                       "9 3 2 3", "5 2.5", "12 3 2 3 2 3"};

// One hue, from much ink (finest) to little (coarsest).
constexpr std::array<Rgb, 3> kLevelsOnWhite{
    {{0x0B, 0x2F, 0x63}, {0x3A, 0x86, 0xBE}, {0xB5, 0xD9, 0xEC}}};
constexpr std::array<Rgb, 3> kLevelsOnBlack{
    {{0xDD, 0xF0, 0xFC}, {0x5F, 0xA8, 0xDB}, {0x25, 0x52, 0x7D}}};

Rgb mix(Rgb a, Rgb b, double share_of_b) {
  const auto channel = [&](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(std::lround(x + share_of_b * (y - x)));
  };
  return {channel(a.red, b.red), channel(a.green, b.green), channel(a.blue, b.blue)};
}

Rgb shade(const std::array<Rgb, 3>& stops, double position) {
  return position < 0.5 ? mix(stops[0], stops[1], 2 * position)
                        : mix(stops[1], stops[2], 2 * position - 1);
}

std::string rule(const std::string& name, Rgb colour) {
  return fmt::format(".{}{{--k:#{:02x}{:02x}{:02x}}}\n", name, colour.red, colour.green,
                     colour.blue);
}

}  // namespace

std::string policy_colour_class(std::size_t index) {
  return fmt::format("c{}", index % kNumColours);
}

std::string policy_dash_class(std::size_t index) {
  return fmt::format("d{}", (index + index / kNumColours) % kNumColours);
}

std::string level_class(std::size_t index, std::size_t num_levels) {
  if (num_levels < 2) return fmt::format("l{}", kNumLevelShades / 2);
  const double position = static_cast<double>(index) / static_cast<double>(num_levels - 1);
  return fmt::format("l{}", std::lround(position * (kNumLevelShades - 1)));
}

std::string palette_rules(Theme theme) {
  const bool light = theme == Theme::kLight;
  std::string rules;
  for (std::size_t i = 0; i < kNumColours; ++i) {
    rules += rule(policy_colour_class(i), (light ? kPoliciesOnWhite : kPoliciesOnBlack)[i]);
  }
  for (std::size_t i = 0; i < kNumLevelShades; ++i) {
    const double position = static_cast<double>(i) / (kNumLevelShades - 1);
    rules += rule(level_class(i, kNumLevelShades),
                  shade(light ? kLevelsOnWhite : kLevelsOnBlack, position));
  }
  rules += rule(kRecomputeClass, light ? Rgb{0xD9, 0x6B, 0x0B} : Rgb{0xF5, 0x9B, 0x42});
  rules += rule(kUnknownLevelClass, light ? Rgb{0x8A, 0x8A, 0x8A} : Rgb{0x9A, 0x9A, 0x9A});
  return rules;
}

std::string dash_rules() {
  std::string rules;
  for (std::size_t i = 0; i < kNumColours; ++i) {
    rules += fmt::format(".d{}{{stroke-dasharray:{}}}\n", i, kDashes[i]);
  }
  return rules;
}

}  // namespace sluice
