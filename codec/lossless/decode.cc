// A section's bytes to elements, block by block as the entropy coder hands them out.
#include <algorithm>

#include "codec/damage.h"
#include "codec/entropy/binding.h"
#include "codec/lossless/kernel.h"
#include "codec/lossless/models.h"
#include "codec/lossless/section.h"
#include "codec/raw/kernel.h"

namespace sluice::lossless {
namespace {

Status decode_raw(std::span<const std::byte> payload,
                  std::span<const MutableSectionTensor> tensors) {
  std::int64_t expected = 0;
  for (const MutableSectionTensor& tensor : tensors) expected += tensor.values.shape.size().bytes();
  const auto bytes = static_cast<std::int64_t>(payload.size());
  if (Status status = check_payload_size(bytes, expected); !status) return status;
  for (const MutableSectionTensor& tensor : tensors) {
    const auto size = static_cast<std::size_t>(tensor.values.shape.size().bytes());
    raw::unpack(payload.first(size), tensor.values, raw::copy_bytes);
    payload = payload.subspan(size);
  }
  return {};
}

// Blocks of symbols and low bits to elements.
class MergeSink final : public entropy::BlockSink {
 public:
  MergeSink(const MutableTensorView& tensor, const ColumnModels& columns, const LowBits& layout,
            const std::byte* low, Backend backend)
      : tensor_(tensor), columns_(columns), layout_(layout), low_(low), merge_(merge_of(backend)) {}

  void take(const entropy::SymbolBlock& block) override {
    const std::int64_t dim = tensor_.shape.dim;
    const std::int64_t end = block.column + block.columns;
    for (std::int64_t column = block.column; column < end;) {
      const std::int64_t next = std::min((column / dim + 1) * dim, end);
      take_head(block, column, static_cast<int>(next - column));
      column = next;
    }
  }

 private:
  void take_head(const entropy::SymbolBlock& block, std::int64_t column, int count) const {
    const std::int64_t width = bytes_per_element(tensor_.shape.dtype);
    const std::int64_t dim = tensor_.shape.dim;
    const std::int64_t place = column / dim * tensor_.strides.head +
                               column % dim * tensor_.strides.dim +
                               block.row * tensor_.strides.token;
    merge_({.symbols = block.symbols + (column - block.column),
            .lines = block.rows,
            .columns = count,
            .order = block.order,
            .tops = columns_.tops.data() + column,
            .flips = columns_.flips.data() + column,
            .layout = layout_,
            .low = low_ + block.row * layout_.bytes_per_token(),
            .channel = column,
            .target = tensor_.data + place * width,
            .row_bytes = tensor_.strides.token * width,
            .channel_bytes = tensor_.strides.dim * width,
            .dtype = tensor_.shape.dtype});
  }

  MutableTensorView tensor_;
  const ColumnModels& columns_;
  LowBits layout_;
  const std::byte* low_;
  Merge merge_;
};

// Whether no token's last byte of extra bits has a bit beyond its channels'.
bool has_clean_padding(std::span<const std::byte> low, const LowBits& layout) {
  const auto used = static_cast<int>(layout.channels * layout.extra_bits % 8);
  if (used == 0) return true;
  const auto stride = static_cast<std::size_t>(layout.bytes_per_token());
  for (std::size_t last = stride - 1; last < low.size(); last += stride)
    if (low[last] >> used != std::byte{0}) return false;
  return true;
}

// Decodes one tensor from the front of `in`; the set of tables is lent to the plane.
Status decode_tensor(const MutableTensorView& tensor, entropy::TableSet& tables, Backend backend,
                     ByteReader& in) {
  const TensorShape& shape = tensor.shape;
  const Format format = format_of(shape.dtype);
  const int zeros = in.get<std::uint8_t>();
  if (zeros > format.mantissa_bits) return damaged("a section with more zero bits than mantissa");
  const auto columns =
      read_columns(shape.channels(), static_cast<std::size_t>(tables.size()) - 1, in);
  if (!columns) return columns.error();
  const LowBits layout = low_bits(format, zeros, shape.channels());
  const auto low = in.get_bytes(static_cast<std::size_t>(shape.tokens * layout.bytes_per_token()));
  if (!in.ok()) return damaged("a section that ends in its mantissas");
  if (!has_clean_padding(low, layout)) return damaged("padding bits are not zero");
  // A plane has a header of 8 bytes at least before any block comes: what merges may read beyond.
  MergeSink sink(tensor, *columns, layout, low.data(), backend);
  entropy::ProfileTables given = plane_tables(*columns);
  std::swap(given.tables, tables);
  ByteReader rest = in;
  const auto plane =
      entropy::decode_plane(rest.get_bytes(rest.left()), shape.tokens, shape.channels(),
                            {.profile = &given, .backend = backend}, sink);
  std::swap(given.tables, tables);
  if (!plane) return plane.error();
  (void)in.get_bytes(*plane);
  return {};
}

Status decode_coded(const SectionContext& context, ByteReader in,
                    std::span<const MutableSectionTensor> tensors) {
  const auto frequencies = read_tables(in);
  if (!frequencies) return frequencies.error();
  entropy::TableSet tables;
  for (const entropy::Frequencies& table : *frequencies) (void)tables.add(table);
  for (const MutableSectionTensor& tensor : tensors) {
    if (Status status = decode_tensor(tensor.values, tables, context.backend, in); !status)
      return status;
  }
  return in.left() == 0 ? Status{} : damaged("a section with bytes after its last tensor");
}

}  // namespace

Status decode_section(const SectionContext& context, std::span<const std::byte> payload,
                      std::span<const MutableSectionTensor> tensors) {
  ByteReader in(payload);
  const auto mode = in.get<std::uint8_t>();
  if (!in.ok()) return damaged("a section without bytes");
  if (mode == static_cast<std::uint8_t>(Mode::kRaw)) return decode_raw(payload.subspan(1), tensors);
  if (mode == static_cast<std::uint8_t>(Mode::kCoded)) return decode_coded(context, in, tensors);
  return damaged("a section that is neither raw nor coded");
}

}  // namespace sluice::lossless
