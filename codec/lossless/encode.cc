// Two passes over a section's tensors: count signs and exponents and fit tables, then split and
// code.
#include <algorithm>
#include <bit>
#include <cstring>

#include "codec/entropy/binding.h"
#include "codec/lossless/column_classes.h"
#include "codec/lossless/kernel.h"
#include "codec/lossless/models.h"
#include "codec/lossless/section.h"
#include "codec/raw/kernel.h"

namespace sluice::lossless {
namespace {

constexpr std::int64_t kColumnUnit = 32;      // tiles begin where packed bits begin a byte
constexpr std::int32_t kTopAboveMode = 5;     // 2^5 times as large as most: an exception
constexpr std::int64_t kMaxCounted = 32'767;  // tokens of a channel that its histogram sees

template <typename Word>
void read_words_of(const TensorView& tensor, std::int64_t token, std::uint32_t* words) {
  const TensorShape& shape = tensor.shape;
  const auto step = tensor.strides.dim * static_cast<std::int64_t>(sizeof(Word));
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    const std::byte* from =
        tensor.data + (head * tensor.strides.head + token * tensor.strides.token) *
                          static_cast<std::int64_t>(sizeof(Word));
    for (std::int64_t dim = 0; dim < shape.dim; ++dim, from += step) {
      Word word;
      std::memcpy(&word, from, sizeof word);
      *words++ = word;
    }
  }
}

// A token's elements as words, [channel].
void read_words(const TensorView& tensor, std::int64_t token, std::uint32_t* words) {
  if (tensor.shape.dtype == Dtype::kFp32) return read_words_of<std::uint32_t>(tensor, token, words);
  read_words_of<std::uint16_t>(tensor, token, words);
}

// What the first pass learns of a tensor.
struct TensorFacts {
  explicit TensorFacts(std::int64_t channels) : columns(channels) {}
  ColumnModels columns;  // without tables
  int zeros = 0;
};

// Counts a tensor's signs and exponents, and folds them to symbols.
class Counter {
 public:
  TensorFacts count(const TensorView& tensor, std::vector<Histogram>& histograms) {
    const TensorShape& shape = tensor.shape;
    const Format format = format_of(shape.dtype);
    const auto channels = static_cast<std::size_t>(shape.channels());
    const std::size_t span = std::size_t{2} << format.exponent_bits;
    counts_.assign(channels * span, 0);
    words_.resize(channels);
    std::uint32_t all = std::uint32_t{1} << format.mantissa_bits;
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      read_words(tensor, token, words_.data());
      for (const std::uint32_t word : words_) all |= word;
      if (token >= kMaxCounted) continue;
      for (std::size_t c = 0; c < channels; ++c)
        ++counts_[c * span + (words_[c] >> format.mantissa_bits)];
    }
    TensorFacts facts(shape.channels());
    facts.zeros = std::min(std::countr_zero(all), format.mantissa_bits);
    for (std::size_t c = 0; c < channels; ++c) {
      const std::span<const std::uint32_t> of_column(&counts_[c * span], span);
      const Column column = column_of(of_column, format);
      facts.columns.tops[c] = column.top;
      facts.columns.flips[c] = column.flip;
      histograms.push_back(histogram_of(of_column, column, format));
    }
    return facts;
  }

 private:
  // The sign that most elements have, and the exponent that most have, some octaves above.
  static Column column_of(std::span<const std::uint32_t> counts, Format format) {
    const std::size_t half = counts.size() / 2;
    std::int64_t positive = 0, negative = 0;
    std::size_t mode = 0;
    for (std::size_t e = 0; e < half; ++e) {
      positive += counts[e];
      negative += counts[half + e];
      if (counts[e] + counts[half + e] > counts[mode] + counts[half + mode]) mode = e;
    }
    const std::int32_t top = static_cast<std::int32_t>(mode) + kTopAboveMode;
    return {.top = static_cast<std::int16_t>(std::min(top, format.exponent_mask())),
            .flip = static_cast<std::int16_t>(negative > positive ? -1 : 0)};
  }

  static Histogram histogram_of(std::span<const std::uint32_t> counts, Column column,
                                Format format) {
    Histogram histogram;
    for (std::size_t code = 0; code < counts.size(); ++code) {
      if (counts[code] == 0) continue;
      const auto exponent = static_cast<std::int32_t>(code) & format.exponent_mask();
      const std::int32_t symbol =
          to_symbol(static_cast<std::int32_t>(code >> format.exponent_bits), exponent, column);
      const auto place = static_cast<std::uint32_t>(symbol - kFirstSymbol);
      if (place < static_cast<std::uint32_t>(kNumSymbols)) {
        histogram.counts[place] = static_cast<std::int16_t>(
            histogram.counts[place] + static_cast<std::int16_t>(counts[code]));
      } else {
        histogram.outside += counts[code];
      }
    }
    return histogram;
  }

  std::vector<std::uint32_t> counts_;  // [channel, sign and exponent]
  std::vector<std::uint32_t> words_;
};

class Encoder {
 public:
  explicit Encoder(Backend backend) : backend_(backend), planes_(out_) {}

  EncodedSection encode(std::span<const SectionTensor> tensors) {
    std::vector<Histogram> histograms;
    std::vector<TensorFacts> facts;
    Counter counter;
    std::int64_t tokens = 0;
    for (const SectionTensor& tensor : tensors) {
      facts.push_back(counter.count(tensor.values, histograms));
      tokens = std::max(tokens, tensor.values.shape.tokens);
    }
    const double weight =
        static_cast<double>(tokens) / static_cast<double>(std::min(tokens, kMaxCounted));
    const ColumnClasses classes = fit_classes(histograms, weight, entropy::kernels_of(backend_));
    for (const entropy::Frequencies& table : classes.tables) (void)tables_.add(table);
    out_.put(static_cast<std::uint8_t>(Mode::kCoded));
    put_tables(classes.tables, out_);
    side_bytes_ = static_cast<std::int64_t>(out_.bytes().size());
    std::size_t first = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      ColumnModels& columns = facts[i].columns;
      std::copy_n(classes.table_of_column.data() + first, columns.tables.size(),
                  columns.tables.data());
      first += columns.tables.size();
      put_tensor(tensors[i].values, facts[i], classes.tables.size());
    }
    return {.payload = std::move(out_).take(), .side_bytes = side_bytes_};
  }

 private:
  void put_tensor(const TensorView& tensor, const TensorFacts& facts, std::size_t num_tables) {
    const TensorShape& shape = tensor.shape;
    const std::size_t before = out_.bytes().size();
    out_.put(static_cast<std::uint8_t>(facts.zeros));
    put_columns(facts.columns, num_tables, out_);
    side_bytes_ += static_cast<std::int64_t>(out_.bytes().size() - before);
    split(tensor, facts);
    out_.put_bytes(low_);
    entropy::ProfileTables tables = plane_tables(facts.columns);
    tables.tables = tables_;
    const auto stats = planes_.encode({shape.tokens, shape.channels(), symbols_},
                                      {.model = entropy::PlaneModel::kProfile,
                                       .column_unit = kColumnUnit,
                                       .profile = &tables,
                                       .backend = backend_});
    side_bytes_ += stats.side_bytes();
  }

  void split(const TensorView& tensor, const TensorFacts& facts) {
    const TensorShape& shape = tensor.shape;
    const Format format = format_of(shape.dtype);
    const auto channels = static_cast<std::size_t>(shape.channels());
    const LowBits layout = low_bits(format, facts.zeros, shape.channels());
    symbols_.resize(static_cast<std::size_t>(shape.elements()));
    low_.assign(static_cast<std::size_t>(shape.tokens * layout.bytes_per_token()), std::byte{0});
    std::vector<std::uint32_t> words(channels);
    std::int16_t* symbols = symbols_.data();
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      read_words(tensor, token, words.data());
      put_low_bits(layout, words.data(), format, low_.data() + token * layout.bytes_per_token());
      for (std::size_t c = 0; c < channels; ++c) {
        const auto upper = static_cast<std::int32_t>(words[c] >> format.mantissa_bits);
        *symbols++ = to_symbol(upper >> format.exponent_bits, upper & format.exponent_mask(),
                               facts.columns.column(c));
      }
    }
  }

  Backend backend_;
  ByteWriter out_;
  entropy::PlaneEncoder planes_;
  entropy::TableSet tables_;
  std::int64_t side_bytes_ = 0;
  std::vector<std::int16_t> symbols_;
  std::vector<std::byte> low_;
};

std::int64_t raw_bytes(std::span<const SectionTensor> tensors) {
  std::int64_t bytes = 0;
  for (const SectionTensor& tensor : tensors) bytes += tensor.values.shape.size().bytes();
  return bytes;
}

}  // namespace

Result<EncodedSection> encode_section(const SectionContext& context,
                                      std::span<const SectionTensor> tensors) {
  EncodedSection coded = Encoder(context.backend).encode(tensors);
  const std::int64_t raw = raw_bytes(tensors);
  if (static_cast<std::int64_t>(coded.payload.size()) <= raw) return coded;
  EncodedSection section{.payload = {static_cast<std::byte>(Mode::kRaw)}, .side_bytes = 1};
  section.payload.reserve(static_cast<std::size_t>(1 + raw));
  for (const SectionTensor& tensor : tensors) raw::append(tensor.values, section.payload);
  return section;
}

}  // namespace sluice::lossless
