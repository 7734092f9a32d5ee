// Links of the world as parameter sets: each fitted to the statistics that its row names, which
// tests/traces/presets_test.cc holds them to.
// Surprise: what those studies measured is achieved throughput in one-second means, so each preset
// holds a rate for a second, and as a capacity it is biased low.
#include "traces/generators/presets.h"

#include <algorithm>
#include <array>

#include "traces/generators/parameters.h"

namespace sluice {
namespace {

constexpr std::array kPresets{
    LinkPreset{
        "lumos5g", "mmWave 5G in a city, walking and driving", "quantiles",
        "points=0:0bit/s,0.1:44Mbit/s,0.25:110Mbit/s,0.5:429Mbit/s,0.75:740Mbit/s,0.9:1180Mbit/s,"
        "0.95:1520Mbit/s,0.99:1760Mbit/s,1:1920Mbit/s time_constant=12s step=1s",
        "Lumos5G (Narayanan et al., IMC 2020), the 121 5G traces processed for SIGCOMM 2021: mean "
        "523 Mbit/s, CV 0.88, p10/p50/p90 44/429/1180, max 1920; other points interpolated"},
    LinkPreset{
        "lumos5g-walking", "mmWave 5G in a city, on foot", "quantiles",
        "points=0:0bit/s,0.043:0bit/s,0.1:19Mbit/s,0.25:118Mbit/s,0.5:702Mbit/s,0.75:1170Mbit/s,"
        "0.9:1610Mbit/s,0.95:1740Mbit/s,0.99:1810Mbit/s,1:1860Mbit/s time_constant=12s step=1s",
        "Lumos5G (Narayanan et al., IMC 2020), walking traces 44 and 54: mean 722 Mbit/s, CV 0.80, "
        "p10/p50/p90 19/702/1610, 4.3 % at zero, correlation over 5 s 0.62"},
    LinkPreset{
        "lumos5g-driving", "mmWave 5G in a city, from a car", "quantiles",
        "points=0:0bit/s,0.014:0bit/s,0.05:11Mbit/s,0.1:17Mbit/s,0.25:48Mbit/s,0.5:103Mbit/s,"
        "0.75:124Mbit/s,0.9:403Mbit/s,0.95:600Mbit/s,0.99:749Mbit/s,1:880Mbit/s time_constant=4s "
        "step=1s",
        "Lumos5G (Narayanan et al., IMC 2020), driving traces 22 and 80: mean 154 Mbit/s, CV 1.16, "
        "p10/p50/p90 17/103/403, 1.4 % at zero, correlation over 5 s 0.19"},
    LinkPreset{
        "irish-5g-driving", "5G and LTE between towns, from a car", "quantiles",
        "points=0:0bit/s,0.026:0bit/s,0.05:2kbit/s,0.1:603kbit/s,0.25:3730kbit/s,0.5:9220kbit/s,"
        "0.75:21Mbit/s,0.8:25Mbit/s,0.85:49Mbit/s,0.9:105Mbit/s,0.95:160Mbit/s,0.98:247Mbit/s,"
        "0.99:306Mbit/s,1:485Mbit/s time_constant=9s step=1s",
        "Irish 5G data set (Raca et al., MMSys 2020), driving downloads of 2019-12-16 and "
        "2020-02-14: mean 30.6 Mbit/s, CV 1.93, p10/p50/p90 0.60/9.2/105, 2.6 % at zero, "
        "correlation over 5 s 0.42"},
    LinkPreset{
        "starlink-driving", "Starlink on a motorway", "quantiles",
        "points=0:0bit/s,0.003:0bit/s,0.05:52Mbit/s,0.1:94Mbit/s,0.25:153Mbit/s,0.5:225Mbit/s,"
        "0.75:297Mbit/s,0.9:350Mbit/s,0.95:389Mbit/s,0.99:423Mbit/s,1:446Mbit/s time_constant=9s "
        "step=1s",
        "Starlink on the Autobahn (Laniewski et al., IEEE OJ-COMS 2025), first 1500 downlink rows: "
        "mean 224 Mbit/s, CV 0.44, p10/p50/p90 94/225/350, 0.3 % at zero, correlation over 5 s "
        "0.60"},
};

}  // namespace

std::span<const LinkPreset> link_presets() {
  return kPresets;
}

std::vector<ParameterText> with_preset(const LinkPreset& preset,
                                       std::span<const ParameterText> given) {
  std::vector<ParameterText> parameters(given.begin(), given.end());
  for (const std::string_view word : split_list(preset.parameters, ' ')) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const auto same = [&](const ParameterText& p) { return p.name == name; };
    if (std::any_of(given.begin(), given.end(), same)) continue;
    parameters.push_back({std::string(name), std::string(word.substr(equals + 1))});
  }
  return parameters;
}

}  // namespace sluice
