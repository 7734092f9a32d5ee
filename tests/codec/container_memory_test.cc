// Nothing allocates more than a file's own bytes justify, whatever its header claims: this program
// counts every operator new.
// A program of its own, because counting holds for all of it.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "codec/bytes.h"
#include "codec/entropy/binding.h"
#include "codec/entropy/shipped_tables.h"
#include "tests/codec/container_bytes.h"
#include "tests/codec/every_level.h"
#include "tests/codec/made_caches.h"

namespace {

std::atomic<std::int64_t> held_bytes = 0;
std::atomic<std::int64_t> peak_bytes = 0;

void* counted(std::size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  held_bytes += static_cast<std::int64_t>(::malloc_usable_size(memory));
  peak_bytes = std::max(peak_bytes.load(), held_bytes.load());
  return memory;
}

void uncounted(void* memory) noexcept {
  if (memory == nullptr) return;
  held_bytes -= static_cast<std::int64_t>(::malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new[](std::size_t size) {
  return counted(size);
}
void operator delete(void* memory) noexcept {
  uncounted(memory);
}
void operator delete[](void* memory) noexcept {
  uncounted(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  uncounted(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  uncounted(memory);
}

namespace sluice {
namespace {

// The most that work() held at any moment beyond what was there before it.
template <typename Work>
std::int64_t peak_of(Work work) {
  const std::int64_t before = held_bytes;
  peak_bytes = before;
  work();
  return peak_bytes - before;
}

constexpr std::int64_t kFixedBytes = 256 << 10;  // tables, error texts, first-use statics
constexpr std::int64_t kHeaderMultiple = 64;     // parsed forms are wider than their bytes
constexpr std::int64_t kTensorMultiple = 4;      // the cache, and a codec's symbols and rows

std::int64_t justified_bytes(const Bytes& file, const CodecInfo& info) {
  const auto size = static_cast<std::int64_t>(file.size());
  const std::int64_t tensors = size * info.max_elements_per_byte * 4;  // fp32
  return kFixedBytes + kHeaderMultiple * size + kTensorMultiple * tensors;
}

class EveryLevel : public testing::TestWithParam<CodecLevel> {
 protected:
  static void expect_justified(const Bytes& file, const std::string& lie) {
    const std::int64_t peak =
        peak_of([&] { (void)decode_container(file, "made.kvb"); });  // an error, or other elements
    ASSERT_LE(peak, justified_bytes(file, GetParam().codec->info)) << lie;
  }
};

TEST(Counting, SeesAnAllocation) {
  EXPECT_GE(peak_of([] { std::vector<char> block(1 << 20); }), 1 << 20);
  EXPECT_LE(peak_of([] {}), 0);
}

// One tile of 65535 columns, its one row zeros, every column with a shipped table of its own.
Bytes wide_shipped_plane(std::size_t columns) {
  const std::int16_t zero = 0;
  const auto distribution = entropy::measure_distribution(&zero, 1, 1);
  ByteWriter tile;
  for (std::size_t column = 0; column < columns; ++column) {
    for (const std::uint16_t entry : distribution) tile.put(entry);
  }
  for (int lane = 0; lane < entropy::kLanes; ++lane) tile.put(entropy::kLowerBound);
  ByteWriter plane;
  plane.put(static_cast<std::uint8_t>(entropy::PlaneModel::kShipped));
  plane.put(std::uint8_t{0});
  plane.put(static_cast<std::uint16_t>(columns));
  plane.put(std::uint32_t{1});  // rows
  plane.put(static_cast<std::uint32_t>(tile.bytes().size()));
  plane.put_bytes(tile.bytes());
  return std::move(plane).take();
}

TEST(ShippedTables, OfOneWideTileTakeNoMoreThanItsSymbols) {
  constexpr std::size_t kColumns = 65535;
  const Bytes plane = wide_shipped_plane(kColumns);
  std::vector<std::int16_t> symbols(kColumns, 1);
  const std::int64_t peak = peak_of([&] {
    const auto size = entropy::decode_plane(plane, 1, kColumns, {}, symbols);
    ASSERT_TRUE(size.ok());
    EXPECT_EQ(*size, plane.size());
  });
  EXPECT_LE(peak, 1 << 20);  // tables of 8 KiB for 32 columns at a time, in memory that doubles
  EXPECT_EQ(symbols, std::vector<std::int16_t>(kColumns));
}

TEST_P(EveryLevel, ShapesThatGrowByPowersOfTwoTakeNoMoreThanTheBytesCanHold) {
  const KvCache cache = small_cache();
  const Bytes file = encoded(cache.view(), GetParam().id());
  const auto header = parse_header(file, "made.kvb");
  ASSERT_TRUE(header.ok());
  for (int power = 0; power < 59; ++power) {
    for (std::int64_t TensorShape::*count :
         {&TensorShape::tokens, &TensorShape::heads, &TensorShape::dim}) {
      ContainerHeader lying = *header;
      auto& layer = lying.shape.layers[0];
      (*layer.key).*count = (*layer.value).*count = std::int64_t{1} << power;
      if (!check_shape(lying.shape)) continue;
      lay_out(lying);
      Bytes lie = header_bytes(lying, nullptr);
      lie.insert(lie.end(), file.begin() + header->header_size.bytes(), file.end());
      expect_justified(lie, "2^" + std::to_string(power));
    }
  }
}

TEST_P(EveryLevel, NoFieldOfTheHeaderSetToAnyExtremeTakesMore) {
  const Bytes file = encoded(small_cache().view(), GetParam().id());
  const auto header = parse_header(file, "made.kvb");
  ASSERT_TRUE(header.ok());
  const auto end = static_cast<std::size_t>(header->header_size.bytes()) - 4;
  const std::uint64_t extremes[] = {0xFF,
                                    0x7FFFFFFF,
                                    0xFFFFFFFF,
                                    std::uint64_t{1} << 40,
                                    std::uint64_t{1} << 62,
                                    ~std::uint64_t{0}};
  for (std::size_t at = 32; at + 8 <= end; ++at) {
    for (const std::uint64_t extreme : extremes) {
      expect_justified(patched(file, at, extreme), "at " + std::to_string(at));
      expect_justified(patched(file, at, static_cast<std::uint32_t>(extreme)),
                       "at " + std::to_string(at));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryLevel, testing::ValuesIn(every_level()), level_name);

}  // namespace
}  // namespace sluice
