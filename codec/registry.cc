#include "codec/registry.h"

#include <fmt/format.h>

#include <set>

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
      cachegen_released_codec(),
      cachegen_published_codec(),
      sluice_codec(),
  };
}

std::vector<Codec> checked(std::vector<Codec> table) {
  std::set<std::string> ids;
  for (const Codec& codec : table) {
    SLUICE_ASSERT(ids.insert(codec.info.id).second, "two codecs with one id");
    SLUICE_ASSERT(codec.info.default_level < codec.info.levels.size(),
                  "a codec whose default level does not exist");
    SLUICE_ASSERT(codec.info.max_elements_per_byte > 0, "a codec that bounds no allocation");
    std::set<std::string> levels;
    for (const CodecLevelInfo& level : codec.info.levels) {
      SLUICE_ASSERT(levels.insert(level.name).second, "a codec with two levels of one name");
      SLUICE_ASSERT(level.refinements >= 0 && level.refinements <= UINT8_MAX,
                    "a level with more refinements than a container can number");
    }
  }
  return table;
}

}  // namespace

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

Result<CodecLevel> find_codec_level(std::string_view id, std::string_view level,
                                    std::span<const Codec> codecs) {
  const auto codec = find_codec(id, codecs);
  if (!codec) return codec.error();
  std::vector<std::string> known;
  for (const CodecLevelInfo& info : (*codec)->info.levels) {
    if (info.name == level) return CodecLevel{.codec = *codec, .level = known.size()};
    known.push_back(info.name);
  }
  return error_in("--level", fmt::format("codec `{}` has no level `{}`", id, level),
                  suggest_name(level, known));
}

Result<CodecLevel> find_codec_level(std::string_view name) {
  const std::size_t at = name.find('@');
  if (at != std::string_view::npos)
    return find_codec_level(name.substr(0, at), name.substr(at + 1));
  const auto codec = find_codec(name);
  if (!codec) return codec.error();
  return CodecLevel{.codec = *codec, .level = (*codec)->info.default_level};
}

}  // namespace sluice
