#include "tests/bench/arithmetic_coder.h"

#include <algorithm>

namespace sluice::bench {
namespace {

constexpr std::uint32_t kHalf = 0x8000'0000;
constexpr std::uint32_t kQuarter = 0x4000'0000;
constexpr int kFrequencyBits = 16;

// The interval of numbers that the symbols so far leave, both ends included.
struct Interval {
  std::uint32_t low = 0;
  std::uint32_t high = 0xFFFF'FFFF;

  [[nodiscard]] std::uint64_t width() const { return std::uint64_t{high} - low + 1; }
  void narrow(std::uint32_t begin, std::uint32_t end) {
    const std::uint64_t whole = width();
    high = low + static_cast<std::uint32_t>((whole * end >> kFrequencyBits) - 1);
    low += static_cast<std::uint32_t>(whole * begin >> kFrequencyBits);
  }
  // Its first bit is known.
  [[nodiscard]] bool is_in_one_half() const { return (low ^ high) < kHalf; }
  // The first two bits are 01 and 10: the next bit will tell both.
  [[nodiscard]] bool straddles_closely() const { return low >= kQuarter && high < 3 * kQuarter; }
  void shift() {
    low <<= 1;
    high = high << 1 | 1;
  }
  void shift_out_of_middle() {
    low = (low - kQuarter) << 1;
    high = (high - kQuarter) << 1 | 1;
  }
};

class BitWriter {
 public:
  void put(bool bit) {
    byte_ = byte_ << 1 | (bit ? 1U : 0U);
    if (++num_bits_ == 8) flush();
  }
  [[nodiscard]] std::vector<std::byte> take() {
    while (num_bits_ != 0) put(false);
    return std::move(bytes_);
  }

 private:
  void flush() {
    bytes_.push_back(static_cast<std::byte>(byte_));
    byte_ = 0;
    num_bits_ = 0;
  }
  std::vector<std::byte> bytes_;
  unsigned byte_ = 0;
  int num_bits_ = 0;
};

// Zeros after the end.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint32_t get() {
    if (next_ / 8 >= bytes_.size()) return 0;
    const auto byte = static_cast<unsigned>(bytes_[next_ / 8]);
    return byte >> (7 - next_++ % 8) & 1U;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t next_ = 0;
};

class Encoder {
 public:
  void put(std::uint32_t begin, std::uint32_t end) {
    interval_.narrow(begin, end);
    while (true) {
      if (interval_.is_in_one_half()) {
        put_bit(interval_.low >= kHalf);
        interval_.shift();
      } else if (interval_.straddles_closely()) {
        ++num_pending_;
        interval_.shift_out_of_middle();
      } else {
        return;
      }
    }
  }
  [[nodiscard]] std::vector<std::byte> finish() {
    ++num_pending_;  // two bits name a quarter that lies inside the interval
    put_bit(interval_.low >= kQuarter);
    return bits_.take();
  }

 private:
  void put_bit(bool bit) {
    bits_.put(bit);
    for (; num_pending_ > 0; --num_pending_) bits_.put(!bit);
  }
  Interval interval_;
  std::int64_t num_pending_ = 0;
  BitWriter bits_;
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : bits_(bytes) {
    for (int i = 0; i < 32; ++i) value_ = value_ << 1 | bits_.get();
  }
  [[nodiscard]] std::uint8_t get(const std::uint32_t* cumulative, int num_symbols) {
    const std::uint64_t offset = std::uint64_t{value_} - interval_.low + 1;
    const auto target =
        static_cast<std::uint32_t>(((offset << kFrequencyBits) - 1) / interval_.width());
    const auto* above = std::upper_bound(cumulative + 1, cumulative + num_symbols, target);
    const auto symbol = above - cumulative - 1;
    interval_.narrow(cumulative[symbol], cumulative[symbol + 1]);
    catch_up();
    return static_cast<std::uint8_t>(symbol);
  }

 private:
  void catch_up() {
    while (true) {
      if (interval_.is_in_one_half()) {
        value_ = value_ << 1 | bits_.get();
        interval_.shift();
      } else if (interval_.straddles_closely()) {
        value_ = (value_ - kQuarter) << 1 | bits_.get();
        interval_.shift_out_of_middle();
      } else {
        return;
      }
    }
  }
  Interval interval_;
  BitReader bits_;
  std::uint32_t value_ = 0;
};

}  // namespace

ColumnFrequencies count_frequencies(std::span<const std::uint8_t> symbols, std::int64_t num_columns,
                                    int num_symbols) {
  ColumnFrequencies result{num_columns, num_symbols, {}};
  const auto width = static_cast<std::size_t>(num_symbols);
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(num_columns) * width);
  for (std::size_t i = 0; i < symbols.size(); ++i)
    ++counts[i % static_cast<std::size_t>(num_columns) * width + symbols[i]];
  const std::uint64_t rows = symbols.size() / static_cast<std::size_t>(num_columns);
  // Every symbol keeps one slot; the rest goes by count, and what rounding leaves to the last.
  const std::uint64_t slots = (1U << kFrequencyBits) - width;
  for (std::size_t column = 0; column < static_cast<std::size_t>(num_columns); ++column) {
    std::uint64_t before = 0;
    for (std::size_t symbol = 0; symbol < width; ++symbol) {
      result.cumulative.push_back(
          static_cast<std::uint32_t>(symbol + (rows == 0 ? 0 : before * slots / rows)));
      before += counts[column * width + symbol];
    }
    result.cumulative.push_back(1U << kFrequencyBits);
  }
  return result;
}

std::vector<std::byte> arithmetic_encode(std::span<const std::uint8_t> symbols,
                                         const ColumnFrequencies& frequencies) {
  Encoder encoder;
  std::int64_t column = 0;
  for (const std::uint8_t symbol : symbols) {
    const std::uint32_t* cumulative = frequencies.column(column);
    encoder.put(cumulative[symbol], cumulative[symbol + 1]);
    if (++column == frequencies.num_columns) column = 0;
  }
  return encoder.finish();
}

void arithmetic_decode(std::span<const std::byte> bytes, const ColumnFrequencies& frequencies,
                       std::span<std::uint8_t> symbols) {
  Decoder decoder(bytes);
  std::int64_t column = 0;
  for (std::uint8_t& symbol : symbols) {
    symbol = decoder.get(frequencies.column(column), frequencies.num_symbols);
    if (++column == frequencies.num_columns) column = 0;
  }
}

}  // namespace sluice::bench
