#include "codec/profile.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/assert.h"
#include "base/files.h"
#include "base/json_reader.h"
#include "base/names.h"
#include "base/sha256.h"
#include "codec/profile_json.h"

namespace sluice {
namespace {

constexpr std::string_view kFormat = "sluice-codec-profile-1";
constexpr DataSize kMaxFileSize = DataSize::bytes(16 << 20);
constexpr double kMaxBitsPerElement = 64;
constexpr std::int64_t kMaxFixedNs = 3'600'000'000'000;  // an hour
constexpr double kMaxNsPerElement = 1e6;
constexpr double kMaxDamage = 1e6;

constexpr std::array<std::pair<FactSource, const char*>, 4> kSources{
    {{FactSource::kMeasured, "measured"},
     {FactSource::kPublished, "published"},
     {FactSource::kScaled, "scaled"},
     {FactSource::kEstimated, "estimated"}}};

LevelFacts read_level(JsonReader& in) {
  LevelFacts level;
  level.codec = in.text("codec");
  level.level = in.text("level");
  if (level.id().find_first_of(" \t\n,:") != std::string::npos ||
      level.codec.find('@') != std::string::npos) {
    in.fail("", fmt::format("names the level `{}`", level.id()),
            "use ids without spaces, `,` and `:`, one `@` between");
  }
  level.bits_per_element = in.number("bits_per_element", {1e-6, kMaxBitsPerElement});
  if (in.has("bits_per_element_sd"))
    level.bits_per_element_sd = in.number("bits_per_element_sd", {0, kMaxBitsPerElement});
  level.size_source = read_source(in, "size_source");
  if (in.has("encode")) level.encode = read_linear_time(in.object("encode"));
  if (in.has("decode")) level.decode = read_linear_time(in.object("decode"));
  level.damage = in.number("damage", {0, kMaxDamage});
  level.damage_source = read_source(in, "damage_source");
  if (in.has("refines")) level.refines = in.text("refines");
  if (in.has("judged")) level.judged = read_judged(in.object("judged"));
  return level;
}

// Rules across levels: no level twice, least damage first, times only with a device.
void check_level(JsonReader& in, const CodecProfile& profile, const LevelFacts& level) {
  for (const LevelFacts& earlier : profile.levels) {
    if (earlier.id() == level.id())
      in.fail("level", fmt::format("repeats `{}`", level.id()), "keep one");
  }
  if (!profile.levels.empty() && level.damage < profile.levels.back().damage) {
    in.fail("damage", "is less than that of the level before",
            "order levels from least to most damage");
  }
  if ((level.encode || level.decode) && profile.device.empty()) {
    in.fail("", "has times but the profile has no `device`", "say where they were taken");
  }
}

const LevelFacts* find_level(const CodecProfile& profile, const std::string& codec,
                             const std::string& level) {
  for (const LevelFacts& candidate : profile.levels) {
    if (candidate.codec == codec && candidate.level == level) return &candidate;
  }
  return nullptr;
}

// A refinement has more bits than what it refines, so that no chain of them closes to a ring, and
// no more damage.
void check_refinement(JsonReader& in, const CodecProfile& profile, const LevelFacts& level) {
  if (!level.refines) return;
  const LevelFacts* lower = find_level(profile, level.codec, *level.refines);
  if (lower == nullptr) {
    in.fail("refines", fmt::format("names `{}@{}`, which is not here", level.codec, *level.refines),
            "name another level of the same codec, without the codec");
  } else if (lower->bits_per_element >= level.bits_per_element) {
    in.fail("refines",
            fmt::format("names `{}`, which has {} bits per element and this {}", lower->id(),
                        lower->bits_per_element, level.bits_per_element),
            "name a level with fewer bits, or none");
  } else if (lower->damage < level.damage) {
    in.fail("refines",
            fmt::format("names `{}`, which has less damage than this level", lower->id()),
            "name a level with at least this damage, or none");
  }
}

nlohmann::ordered_json to_json(const LinearTime& time) {
  return {{"fixed_ns", to_ns(time.fixed)},
          {"ns_per_element", time.ns_per_element},
          {"source", to_text(time.source)}};
}

nlohmann::ordered_json to_json(const LevelFacts& level) {
  nlohmann::ordered_json json{{"codec", level.codec},
                              {"level", level.level},
                              {"bits_per_element", level.bits_per_element},
                              {"bits_per_element_sd", level.bits_per_element_sd},
                              {"size_source", to_text(level.size_source)}};
  if (level.encode) json["encode"] = to_json(*level.encode);
  if (level.decode) json["decode"] = to_json(*level.decode);
  json["damage"] = level.damage;
  json["damage_source"] = to_text(level.damage_source);
  if (level.refines) json["refines"] = *level.refines;
  if (level.judged) json["judged"] = to_json(*level.judged);
  return json;
}

std::string to_json_text(const CodecProfile& profile) {
  nlohmann::ordered_json json{{"format", kFormat},
                              {"model", profile.model},
                              {"device", profile.device},
                              {"chunk_tokens", profile.chunk_tokens},
                              {"damage_measure", profile.damage_measure},
                              {"command", profile.command},
                              {"commit", profile.commit},
                              {"data_sha256", profile.data_sha256},
                              {"note", profile.note},
                              {"levels", nlohmann::ordered_json::array()}};
  for (const LevelFacts& level : profile.levels) json["levels"].push_back(to_json(level));
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

FactSource after_scaling(FactSource source) {
  return source == FactSource::kEstimated ? FactSource::kEstimated : FactSource::kScaled;
}

}  // namespace

Duration LinearTime::of(std::int64_t num_elements) const {
  SLUICE_ASSERT(num_elements >= 0, "a negative number of elements");
  return nanoseconds_to_duration(static_cast<double>(to_ns(fixed)) +
                                 ns_per_element * static_cast<double>(num_elements));
}

DataSize LevelFacts::size_of(std::int64_t num_elements) const {
  return bits_to_size(bits_per_element * static_cast<double>(num_elements));
}

FactSource read_source(JsonReader& in, const std::string& key) {
  const std::string text = in.text(key);
  std::vector<std::string> known;
  for (const auto& [source, name] : kSources) {
    if (text == name) return source;
    known.emplace_back(name);
  }
  if (!text.empty()) in.fail(key, fmt::format("is `{}`", text), suggest_name(text, known));
  return FactSource::kEstimated;
}

LinearTime read_linear_time(JsonReader in) {
  LinearTime time;
  time.fixed = nanoseconds(in.integer("fixed_ns", {0, kMaxFixedNs}));
  time.ns_per_element = in.number("ns_per_element", {0, kMaxNsPerElement});
  time.source = read_source(in, "source");
  return time;
}

Result<CodecProfile> parse_profile(std::string_view text, const std::filesystem::path& file) {
  auto parsed = JsonReader::parse(text, file.string());
  if (!parsed) return parsed.error();
  JsonReader& in = *parsed;
  in.expect_format(kFormat);
  CodecProfile profile;
  profile.id = file.stem().string();
  profile.model = in.text("model");
  profile.device = in.optional_text("device");
  profile.chunk_tokens = in.integer("chunk_tokens", {1, std::int64_t{1} << 40});
  profile.damage_measure = in.text("damage_measure");
  profile.command = in.optional_text("command");
  profile.commit = in.optional_text("commit");
  profile.data_sha256 = in.optional_text("data_sha256");
  profile.note = in.text("note");
  std::vector<JsonReader> levels = in.objects("levels");
  for (JsonReader& level_in : levels) {
    LevelFacts level = read_level(level_in);
    check_level(level_in, profile, level);
    profile.levels.push_back(std::move(level));
  }
  for (std::size_t i = 0; i < levels.size(); ++i)
    check_refinement(levels[i], profile, profile.levels[i]);
  if (const Status status = in.finish(); !status) return status.error();
  profile.sha256 = sha256_hex(text);
  return profile;
}

Result<CodecProfile> read_profile(const std::filesystem::path& file) {
  const auto text = read_file(file, kMaxFileSize);
  if (!text) return text.error();
  return parse_profile(*text, file);
}

Result<CodecProfile> find_profile(const std::string& id) {
  const auto home = sluice_home();
  if (!home) return home.error();
  const auto file = find_json_file(*home / "codec" / "profiles", id, "codec profile");
  if (!file) return file.error();
  return read_profile(*file);
}

Status write_profile(const CodecProfile& profile, const std::filesystem::path& file) {
  const std::string text = to_json_text(profile);
  if (const auto again = parse_profile(text, file); !again) return again.error();
  return write_file_atomically(file, text);
}

void keep_levels(CodecProfile& profile, const std::function<bool(const LevelFacts&)>& wanted) {
  for (LevelFacts& level : profile.levels) {
    while (level.refines) {
      const LevelFacts* lower = find_level(profile, level.codec, *level.refines);
      SLUICE_ASSERT(lower != nullptr, "a profile refines a level that it does not have");
      if (wanted(*lower)) break;
      level.refines = lower->refines;
    }
  }
  std::erase_if(profile.levels, [&](const LevelFacts& level) { return !wanted(level); });
}

CodecProfile scale_profile(CodecProfile profile, const std::string& to_model) {
  if (profile.model == to_model) return profile;
  for (LevelFacts& level : profile.levels) {
    level.size_source = after_scaling(level.size_source);
    level.damage_source = after_scaling(level.damage_source);
    if (level.encode) level.encode->source = after_scaling(level.encode->source);
    if (level.decode) level.decode->source = after_scaling(level.decode->source);
  }
  profile.note +=
      fmt::format(" Scaled from {} to {}: the same bits, nanoseconds and damage per element.",
                  profile.model, to_model);
  profile.model = to_model;
  return profile;
}

std::string to_text(FactSource source) {
  for (const auto& [known, name] : kSources) {
    if (known == source) return name;
  }
  SLUICE_ASSERT(false, "a fact source without a name");
}

}  // namespace sluice
