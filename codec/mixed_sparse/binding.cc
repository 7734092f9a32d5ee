#include "codec/mixed_sparse/binding.h"

#include "codec/mixed_sparse/section.h"

namespace sluice {

std::span<const mixed_sparse::Level> mixed_sparse::levels() {
  static constexpr Level kLevels[] = {
      {"fp16-10", "10 % of the entries in fp16, the rest in 4 bits", 10, 0},
      {"fp16-5", "5 % in fp16, the rest in 4 bits", 5, 0},
      {"fp16-2", "2 % in fp16, the rest in 4 bits", 2, 0},
      {"fp16-2-zero-50", "2 % in fp16, 48 % in 4 bits, the others as zeros", 2, 50},
  };
  return kLevels;
}

Codec mixed_sparse_codec() {
  CodecInfo info{.id = "mixed-sparse",
                 .summary = "important entries in fp16, the rest in 4 bits, zeros left out",
                 .max_elements_per_byte = 8,  // a bit per element at least
                 .uses_importance = true,
                 .default_level = mixed_sparse::kDefaultLevel};
  for (const mixed_sparse::Level& level : mixed_sparse::levels())
    info.levels.push_back({.name = level.name, .summary = level.summary});
  return {.info = std::move(info),
          .encode_section = mixed_sparse::encode_section,
          .decode_section = mixed_sparse::decode_section};
}

}  // namespace sluice
