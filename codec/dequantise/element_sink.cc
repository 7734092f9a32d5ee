#include "codec/dequantise/element_sink.h"

#include <algorithm>

#include "codec/codable.h"
#include "codec/streaming.h"

namespace sluice::dequantise {
namespace {

static_assert(kBlockColumns == entropy::kLanes);
static_assert(kBlockColumns == kStreamedElems);

}  // namespace

ElementSink::ElementSink(const MutableTensorView& tensor, Backend backend, bool is_streamed)
    : tensor_(tensor),
      kernel_(block_kernel(backend)),
      streams_(is_streamed && fills_whole_lines(tensor)) {}

void ElementSink::add_row(std::int64_t token, float step, const float* base) {
  tokens_.push_back(token);
  steps_.push_back(step);
  if (base != nullptr) bases_.push_back(base);
  const std::int64_t width = bytes_per_element(tensor_.shape.dtype);
  rows_.push_back(tensor_.data + token * tensor_.strides.token * width);
}

void ElementSink::take(const entropy::SymbolBlock& block) {
  if (tensor_.strides.dim != 1) return take_scattered(block);
  const std::int64_t dim = tensor_.shape.dim;
  const std::int64_t end = block.column + block.columns;
  for (std::int64_t column = block.column; column < end;) {
    const std::int64_t next_head = (column / dim + 1) * dim;
    const std::int64_t next = std::min(next_head, end);
    take_head(block, column, static_cast<int>(next - column));
    column = next;
  }
}

void ElementSink::take_head(const entropy::SymbolBlock& block, std::int64_t column, int columns) {
  const std::int64_t head = column / tensor_.shape.dim;
  const std::int64_t place = head * tensor_.strides.head + column % tensor_.shape.dim;
  // Whoever wrote the stream chose where its tiles begin: not always at a line.
  const bool begins_at_line = column % kBlockColumns == 0;
  const auto first_row = static_cast<std::size_t>(block.row);
  kernel_({.symbols = block.symbols + (column - block.column),
           .lines = block.rows,
           .columns = columns,
           .order = block.order,
           .steps = steps_.data() + first_row,
           .bases = bases_.empty() ? nullptr : bases_.data() + first_row,
           .base_column = column,
           .rows = rows_.data() + first_row,
           .offset = place * bytes_per_element(tensor_.shape.dtype),
           .dtype = tensor_.shape.dtype,
           .streams = streams_ && begins_at_line});
}

void ElementSink::take_scattered(const entropy::SymbolBlock& block) {
  for (std::int64_t line = 0; line < block.rows; ++line) {
    const auto row =
        static_cast<std::size_t>(block.row + (block.order == nullptr ? line : block.order[line]));
    for (std::int64_t column = block.column; column < block.column + block.columns; ++column) {
      const std::int16_t symbol = block.symbols[line * kBlockColumns + column - block.column];
      const float product = static_cast<float>(symbol) * steps_[row];
      tensor_.set(column / tensor_.shape.dim, tokens_[row], column % tensor_.shape.dim,
                  bases_.empty() ? product : codable(bases_[row][column] + product));
    }
  }
}

}  // namespace sluice::dequantise
