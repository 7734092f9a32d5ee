// The table of codecs: one line per codec in registry.cc. And their names with reducers.
// Where in the flow: the command line, the container and the contract tests find codecs here, by
// id.
// Surprise: `int8+h2o@token+50` is codec `int8` at level `token` of the 50 % of the tokens that
// reducer `h2o` keeps; left and right of the @ stand the same parts in the same order.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/codec.h"
#include "codec/reducers/registry.h"

namespace sluice {

// All codecs, in the order of the table. A duplicate id or level, or a codec without levels, aborts
// at the first call.
[[nodiscard]] std::span<const Codec> all_codecs();

// A codec and one of its levels, of a layered level maybe a prefix alone; and what it codes, if not
// every token.
struct CodecLevel {
  const Codec* codec = nullptr;
  std::size_t level = 0;
  const Reducer* reducer = nullptr;  // null: every token is kept
  std::size_t reducer_level = 0;
  // The base and so many of the level's refinements; absent: all of them.
  std::optional<std::int32_t> prefix = {};

  [[nodiscard]] const CodecLevelInfo& info() const { return codec->info.levels[level]; }
  [[nodiscard]] std::int32_t refinements() const { return prefix.value_or(info().refinements); }
  [[nodiscard]] std::string codec_name() const;  // "int8", "int8+h2o"
  [[nodiscard]] std::string level_name() const;  // "token", "token+50", "embedded-2"
  [[nodiscard]] std::string id() const { return codec_name() + "@" + level_name(); }
};

// By id. The error names the nearest known codec.
[[nodiscard]] Result<const Codec*> find_codec(std::string_view id,
                                              std::span<const Codec> codecs = all_codecs());
// "int8@token" or "int8+h2o@token+50"; a level that is left out ("int8", "int8+h2o@token",
// "int8+h2o@+50") is the default one; "sluice@embedded-2" is level "embedded" with the first two of
// its refinements. The error names the nearest known codec, reducer or level.
[[nodiscard]] Result<CodecLevel> find_codec_level(std::string_view name);
[[nodiscard]] Result<CodecLevel> find_codec_level(std::string_view codec, std::string_view level,
                                                  std::span<const Codec> codecs = all_codecs());
// As find_codec_level(), but what names no level ("int8", "int8+h2o") is all of them, of a layered
// level every prefix.
[[nodiscard]] Result<std::vector<CodecLevel>> find_codec_levels(std::string_view name);

}  // namespace sluice
