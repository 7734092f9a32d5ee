#include "codec/registry.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>

#include "base/assert.h"
#include "base/names.h"
#include "codec/cachegen_published/binding.h"
#include "codec/cachegen_released/binding.h"
#include "codec/int4/binding.h"
#include "codec/int8/binding.h"
#include "codec/kivi/binding.h"
#include "codec/lossless/binding.h"
#include "codec/mixed_sparse/binding.h"
#include "codec/raw/binding.h"
#include "codec/sluice/binding.h"
#include "codec/transform/binding.h"

namespace sluice {
namespace {

std::vector<Codec> make_table() {
  return {
      raw_codec(),
      lossless_codec(),
      int8_codec(),
      int4_codec(),
      kivi_4_codec(),
      kivi_2_codec(),
      mixed_sparse_codec(),
      transform_codec(),
      cachegen_released_codec(),
      cachegen_published_codec(),
      sluice_codec(),
  };
}

std::vector<Codec> checked(std::vector<Codec> table) {
  std::set<std::string> ids;
  for (const Codec& codec : table) {
    SLUICE_ASSERT(ids.insert(codec.info.id).second, "two codecs with one id");
    SLUICE_ASSERT(codec.info.id.find('+') == std::string::npos, "a codec named like a pair");
    SLUICE_ASSERT(codec.info.default_level < codec.info.levels.size(),
                  "a codec whose default level does not exist");
    SLUICE_ASSERT(codec.info.max_elements_per_byte > 0, "a codec that bounds no allocation");
    std::set<std::string> levels;
    for (const CodecLevelInfo& level : codec.info.levels) {
      SLUICE_ASSERT(levels.insert(level.name).second, "a codec with two levels of one name");
      SLUICE_ASSERT(level.name.find('+') == std::string::npos, "a level named like a pair");
      SLUICE_ASSERT(level.refinements >= 0 && level.refinements <= UINT8_MAX,
                    "a level with more refinements than a container can number");
    }
  }
  return table;
}

// What stands before and behind the first `+`; the second is absent where there is none.
std::pair<std::string_view, std::optional<std::string_view>> parts_of(std::string_view name) {
  const std::size_t plus = name.find('+');
  if (plus == std::string_view::npos) return {name, std::nullopt};
  return {name.substr(0, plus), name.substr(plus + 1)};
}

// 2 of "embedded-2", where the level has as many.
std::optional<std::int32_t> prefix_in(std::string_view name, const CodecLevelInfo& info) {
  for (std::int32_t prefix = 0; info.refinements > 0 && prefix <= info.refinements; ++prefix) {
    if (name == fmt::format("{}-{}", info.name, prefix)) return prefix;
  }
  return std::nullopt;
}

// A level or a prefix of one; the default level where `level` is empty.
Result<CodecLevel> find_level(const Codec& codec, std::string_view level) {
  if (level.empty()) return CodecLevel{.codec = &codec, .level = codec.info.default_level};
  std::vector<std::string> known;
  for (const CodecLevelInfo& info : codec.info.levels) {
    if (info.name == level) return CodecLevel{.codec = &codec, .level = known.size()};
    if (const auto prefix = prefix_in(level, info))
      return CodecLevel{.codec = &codec, .level = known.size(), .prefix = prefix};
    known.push_back(info.name);
  }
  return error_in("--level", fmt::format("codec `{}` has no level `{}`", codec.info.id, level),
                  suggest_name(level, known));
}

void add_with_prefixes(CodecLevel level, std::vector<CodecLevel>& levels) {
  const std::int32_t refinements = level.info().refinements;
  if (refinements == 0) return levels.push_back(level);
  for (level.prefix = refinements; *level.prefix >= 0; --*level.prefix) levels.push_back(level);
}

}  // namespace

std::string CodecLevel::codec_name() const {
  return reducer == nullptr ? codec->info.id : codec->info.id + "+" + reducer->info.id;
}

std::string CodecLevel::level_name() const {
  const std::string name = prefix ? fmt::format("{}-{}", info().name, *prefix) : info().name;
  return reducer == nullptr ? name : name + "+" + reducer->info.levels[reducer_level].name;
}

std::span<const Codec> all_codecs() {
  static const std::vector<Codec> table = checked(make_table());
  return table;
}

Result<const Codec*> find_codec(std::string_view id, std::span<const Codec> codecs) {
  std::vector<std::string> known;
  for (const Codec& codec : codecs) {
    if (codec.info.id == id) return &codec;
    known.push_back(codec.info.id);
  }
  return error_in("--codec", fmt::format("there is no codec `{}`", id), suggest_name(id, known));
}

Result<CodecLevel> find_codec_level(std::string_view codec_name, std::string_view level_name,
                                    std::span<const Codec> codecs) {
  const auto [id, reducer_id] = parts_of(codec_name);
  const auto [level, reducer_level] = parts_of(level_name);
  const auto codec = find_codec(id, codecs);
  if (!codec) return codec.error();
  auto found = find_level(**codec, level);
  if (!found) return found.error();
  if (!reducer_id) {
    if (!reducer_level) return found;
    return error_in(
        "--level",
        fmt::format("`{}` is a reducer's level, and `{}` has no reducer", level_name, id),
        fmt::format("name one: `{}+h2o@{}`", id, level_name));
  }
  const auto reducer = find_reducer(*reducer_id);
  if (!reducer) return reducer.error();
  const auto reducer_index = find_reducer_level(**reducer, reducer_level.value_or(""));
  if (!reducer_index) return reducer_index.error();
  found->reducer = *reducer;
  found->reducer_level = *reducer_index;
  return found;
}

Result<CodecLevel> find_codec_level(std::string_view name) {
  const std::size_t at = name.find('@');
  if (at == std::string_view::npos) return find_codec_level(name, "");
  if (at + 1 == name.size())
    return error_in("--codec", fmt::format("`{}` names no level behind its @", name),
                    "name one, or leave the @ out");
  return find_codec_level(name.substr(0, at), name.substr(at + 1));
}

Result<std::vector<CodecLevel>> find_codec_levels(std::string_view name) {
  const auto one = find_codec_level(name);
  if (!one) return one.error();
  if (name.find('@') != std::string_view::npos) return std::vector{*one};
  std::vector<CodecLevel> levels;
  const std::size_t reducer_levels = one->reducer == nullptr ? 1 : one->reducer->info.levels.size();
  for (std::size_t level = 0; level < one->codec->info.levels.size(); ++level) {
    for (std::size_t kept = 0; kept < reducer_levels; ++kept)
      add_with_prefixes({one->codec, level, one->reducer, kept}, levels);
  }
  return levels;
}

}  // namespace sluice
