// The chunks of a load in one text: they come back as they were, and people see them as a table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "analysis/store/chunk_text.h"
#include "analysis/store/database.h"
#include "tests/analysis/store_fixture.h"

namespace sluice {
namespace {

using testing::HasSubstr;

ChunkRecord some_chunk() {
  ChunkRecord chunk;
  chunk.index = 7;
  chunk.tokens = 1500;
  chunk.action = ChunkAction::kRecomputed;
  chunk.bytes = DataSize::bytes(28'000'000);
  chunk.damage = 0.0125;
  chunk.requested_at = at_ns(1'000'000'100);
  chunk.resident_at = at_ns(1'250'000'000);
  return chunk;
}

std::vector<StoredChunk> back(const std::string& text, Instant arrived) {
  std::vector<StoredChunk> chunks;
  const Status parsed = parse_chunks(text, arrived, chunks);
  EXPECT_TRUE(parsed.ok()) << parsed.error().to_line();
  return chunks;
}

TEST(ChunkText, IsAListOfListsWithInstantsSinceTheLoadsArrival) {
  std::string text = "[";
  append_chunk(text, some_chunk(), 3, 12, at_ns(1'000'000'000));
  text += ']';
  EXPECT_EQ(text, "[[7,1500,1,3,28000000,0.0125,12,100,null,null,null,250000000]]");
}

TEST(ChunkText, GivesBackEveryNumberToTheLastBit) {
  const Instant arrived = at_ns(1'000'000'000);
  for (const double damage : {0.0, -0.0, 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 1e22}) {
    for (const std::int64_t ns : {std::int64_t{0}, std::numeric_limits<std::int64_t>::max(),
                                  std::numeric_limits<std::int64_t>::min()}) {
      ChunkRecord chunk = some_chunk();
      chunk.damage = damage;
      chunk.arrived_at = at_ns(ns);
      chunk.bytes = DataSize::max();
      std::string text = "[";
      append_chunk(text, chunk, 1, 2, arrived);
      const std::vector<StoredChunk> read = back(text + "]", arrived);
      ASSERT_EQ(read.size(), 1u);
      EXPECT_EQ(read[0].record.damage, damage);
      EXPECT_EQ(std::signbit(read[0].record.damage), std::signbit(damage));
      EXPECT_EQ(read[0].record.arrived_at, chunk.arrived_at);
      EXPECT_EQ(read[0].record.bytes, chunk.bytes);
    }
  }
}

TEST(ChunkText, ADamagedTextIsAnErrorThatSaysWhere) {
  std::vector<StoredChunk> chunks;
  const std::string sound = "[[7,1500,1,3,28000000,0.0125,12,100,null,null,null,250000000]]";
  for (std::size_t length = 0; length < sound.size(); ++length) {
    EXPECT_FALSE(parse_chunks(sound.substr(0, length), kRunStart, chunks).ok()) << length;
  }
  for (const char* text :
       {"{}", "[[]]", "[7]", "[[7,1500,1,3,28000000,0.0125,12,100,null,null,null]]",
        "[[99999999999,1,1,3,2,0.5,1,null,null,null,null,null]]"}) {
    EXPECT_FALSE(parse_chunks(text, kRunStart, chunks).ok()) << text;
  }
  EXPECT_THAT(parse_chunks("[[7,x", kRunStart, chunks).error().what, HasSubstr("character 5"));
}

TEST_F(StoreTest, PeopleSeeChunksAsATable) {
  {
    auto store = Store::open(file());
    ASSERT_TRUE(store.ok());
    write_example(*store, add_key(*store, 0));
  }
  const auto raw = Database::open(file(), OpenMode::kReadOnly);  // as any SQLite program does
  ASSERT_TRUE(raw.ok());
  Statement select = raw->prepare(
      "SELECT tokens, words, damage, requested_ns, first_byte_ns, arrived_ns FROM chunk "
      "JOIN phrase ON phrase.id = level_id WHERE load_index = 2 AND chunk_index = 0");
  const auto row = select.step();
  ASSERT_TRUE(row.ok() && *row) << (row ? "no row" : row.error().to_line());
  EXPECT_EQ(select.integer(0), 1500);
  EXPECT_EQ(select.text(1), "cachegen-released@2");
  EXPECT_EQ(select.real(2), 0.0125);
  EXPECT_EQ(select.integer(3), 1'002);
  EXPECT_EQ(select.integer(4), 20'001'000);
  EXPECT_EQ(select.integer(5), 110'000'007);
}

TEST_F(StoreTest, ChunksOutOfOrderAreRefused) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  const RunKey key = add_key(*store, 0);
  ASSERT_TRUE(store->claim(key, *store->add_campaign(example_campaign())).ok());
  std::vector<LoadRecord> loads = example_loads(1, 0);
  loads[0].chunks[1].index = 0;
  const auto written = store->write_run(key, {}, example_metrics(), loads);
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().to_line(), HasSubstr("chunk 0 of load 0 does not follow"));
}

}  // namespace
}  // namespace sluice
