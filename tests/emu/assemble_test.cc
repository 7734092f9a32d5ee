// A refinement that arrived and the base that was here make the container that was encoded.
#include "emu/client/assemble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "emu/contents/selection.h"
#include "tests/codec/container_bytes.h"
#include "tests/codec/layered_codec.h"
#include "tests/codec/made_caches.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

struct Layers {
  Bytes whole, base, addition;
};

// The container of a layered codec, the same without its refinements, and what a server sends to
// somebody who has the latter.
Layers layers() {
  const KvCache cache = small_cache();
  Layers made;
  made.whole =
      *encode_container(cache.view(), {layered_codecs().data(), 0}, {.layers_per_section = 1});
  const ContainerHeader header = *parse_header(made.whole, "whole");
  const auto pieces = choose_pieces(header, {.above_refinement = 0});
  for (const FilePiece& piece : *pieces) {
    made.addition.insert(made.addition.end(), made.whole.begin() + piece.offset,
                         made.whole.begin() + piece.offset + piece.size);
  }
  ContainerHeader below = header;
  std::erase_if(below.sections, [](const SectionEntry& s) { return s.refinement > 0; });
  lay_out(below);
  made.base = header_bytes(below, nullptr);
  for (const SectionEntry& section : header.sections) {
    if (section.refinement > 0) continue;
    made.base.insert(made.base.end(), made.whole.begin() + section.offset,
                     made.whole.begin() + section.offset + section.size.bytes());
  }
  return made;
}

TEST(Assembling, GivesTheContainerThatWasEncoded) {
  const Layers made = layers();
  ASSERT_LT(made.addition.size(), made.whole.size());
  const auto whole = assemble_container(made.base, made.addition, "made");
  ASSERT_TRUE(whole.ok()) << whole.error().to_line();
  EXPECT_EQ(*whole, made.whole);
  const auto cache = decode_container(*whole, "made", {.codecs = layered_codecs()});
  ASSERT_TRUE(cache.ok());
  expect_same(small_cache().view(), cache->view());
}

TEST(Assembling, RefusesWhatIsCutOrBelongsToAnother) {
  const Layers made = layers();
  const std::span<const std::byte> addition = made.addition;
  for (const std::size_t cut :
       {std::size_t{0}, std::size_t{10}, std::size_t{100}, addition.size() - 1})
    EXPECT_FALSE(assemble_container(made.base, addition.first(cut), "made").ok()) << cut;
  EXPECT_FALSE(assemble_container({}, addition, "made").ok());
  const auto other = assemble_container(encoded(small_cache().view(), "int8"), addition, "made");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().to_line(), HasSubstr("does not extend what is here"));
  const auto nothing = assemble_container(made.whole, addition, "made");
  ASSERT_FALSE(nothing.ok());
  EXPECT_THAT(nothing.error().to_line(), HasSubstr("refines nothing"));
}

TEST(Assembling, SurvivesEveryFlippedByte) {
  const Layers made = layers();
  for (std::size_t at = 0; at < made.addition.size(); ++at) {
    Bytes flipped = made.addition;
    flipped[at] ^= std::byte{0xff};
    const auto whole = assemble_container(made.base, flipped, "made");
    // Either it is seen here, or it is a section's byte, which the decoder's checksum sees.
    if (whole.ok()) {
      EXPECT_FALSE(decode_container(*whole, "made", {.codecs = layered_codecs()}).ok()) << at;
    }
  }
}

}  // namespace
}  // namespace sluice
