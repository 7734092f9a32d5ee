// Memory of chunks that arrived goes to the next ones, up to what may lie idle.
#include "emu/client/encoded_memory.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(EncodedMemory, GoesFromOneChunkToTheNextThatFits) {
  const auto memory = EncodedMemory::of(DataSize::bytes(1000));
  const std::byte* const large = memory->borrow(600)->span().data();
  const std::byte* const small = memory->borrow(700)->span().data();  // the 600 are too small
  ASSERT_NE(small, large);
  // 600 + 700 bytes may not lie idle together: the older ones went.
  const auto first = memory->borrow(100);
  EXPECT_EQ(first->span().data(), small);
  EXPECT_EQ(first->span().size(), 100u);
  const auto second = memory->borrow(100);
  EXPECT_NE(second->span().data(), small) << "it is in use";
}

TEST(EncodedMemory, GivesTheSmallestThatFits) {
  const auto memory = EncodedMemory::of(DataSize::bytes(1000));
  auto large = memory->borrow(500), small = memory->borrow(200);
  const std::byte* const wanted = small->span().data();
  large.reset();
  small.reset();
  EXPECT_EQ(memory->borrow(150)->span().data(), wanted);
}

TEST(EncodedMemory, OutlivesItsMaker) {
  auto memory = EncodedMemory::of(DataSize::zero());
  const auto buffer = memory->borrow(10);
  memory.reset();
  EXPECT_EQ(buffer->span().size(), 10u);
}

}  // namespace
}  // namespace sluice
