#include "codec/transform/binding.h"

#include "codec/transform/section.h"

namespace sluice {

std::span<const transform::Level> transform::levels() {
  static constexpr Level kLevels[] = {
      {"bits-2", "components of about 2 bits per element", 2},
      {"bits-1", "components of about 1 bit per element", 1},
      {"bits-0.5", "components of about half a bit per element", 0.5},
      {"bits-0.25", "components of about a quarter of a bit per element", 0.25},
  };
  return kLevels;
}

Codec transform_codec() {
  CodecInfo info{.id = "transform",
                 .summary =
                     "principal components over heads and layers, their basis counted, bits "
                     "by dynamic programming",
                 .needs_positions = true,
                 .max_elements_per_byte = transform::kMaxElementsPerByte,
                 .default_level = transform::kDefaultLevel};
  for (const transform::Level& level : transform::levels())
    info.levels.push_back({.name = level.name, .summary = level.summary});
  return {.info = std::move(info),
          .encode_section = transform::encode_section,
          .decode_section = transform::decode_section};
}

}  // namespace sluice
