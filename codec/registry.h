// The table of codecs: one line per codec in registry.cc.
// Where in the flow: the command line, the container and the contract tests find codecs here, by
// id.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/codec.h"

namespace sluice {

// All codecs, in the order of the table. A duplicate id or level, or a codec without levels, aborts
// at the first call.
[[nodiscard]] std::span<const Codec> all_codecs();

// A codec and one of its levels.
struct CodecLevel {
  const Codec* codec = nullptr;
  std::size_t level = 0;
  [[nodiscard]] const std::string& level_name() const { return codec->info.levels[level].name; }
  [[nodiscard]] std::string id() const { return codec->info.id + "@" + level_name(); }
};

// By id. The error names the nearest known codec.
[[nodiscard]] Result<const Codec*> find_codec(std::string_view id,
                                              std::span<const Codec> codecs = all_codecs());
// "int8" (its default level) or "int8@token". The error names the nearest known codec or level.
[[nodiscard]] Result<CodecLevel> find_codec_level(std::string_view name);
[[nodiscard]] Result<CodecLevel> find_codec_level(std::string_view id, std::string_view level,
                                                  std::span<const Codec> codecs = all_codecs());

}  // namespace sluice
