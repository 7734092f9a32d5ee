// Small contents of two chunks and two levels, for tests of the wire: a model of 3 layers.
#pragma once

#include "base/assert.h"
#include "emu/contents/make_contents.h"

namespace sluice {

inline constexpr std::uint64_t kTestContext = 0x51;

[[nodiscard]] inline ContentsSpec small_spec() {
  ContentsSpec spec{.context = {kTestContext}};
  spec.model.id = "test-3";
  spec.model.layers.assign(3, LayerGeometry{.kv_heads = 2, .head_dim = 16});
  spec.levels = {*find_codec_level("int8@token"), *find_codec_level("cachegen-released@2")};
  spec.chunk_tokens = {64, 48};
  spec.text_per_token = DataSize::bytes(4);
  spec.layers_per_section = 1;
  spec.threads = 1;
  return spec;
}

[[nodiscard]] inline std::shared_ptr<const Contents> small_contents() {
  static const std::shared_ptr<const Contents> kept = [] {
    auto made = make_contents(small_spec());
    auto contents = std::make_shared<Contents>();
    SLUICE_ASSERT(made && contents->add(std::move(*made)), "the small contents cannot be made");
    return contents;
  }();
  return kept;
}

}  // namespace sluice
