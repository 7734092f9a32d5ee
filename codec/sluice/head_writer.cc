#include "codec/sluice/head_writer.h"

#include <algorithm>

#include "codec/sluice/rungs.h"
#include "codec/streaming.h"

namespace sluice::ladder {
namespace {

using entropy::kLanes;

void finish(const Kernels& kernels, const HeadLines<std::int16_t>& symbols,
            const HeadFinish& head) {
  kernels.finish_symbols(symbols, head);
}
void finish(const Kernels& kernels, const HeadLines<std::int32_t>& sums, const HeadFinish& head) {
  kernels.finish_sums(sums, head);
}

}  // namespace

HeadWriter::HeadWriter(const SectionContext& context, const UnitOf<MutableTensorView>& unit,
                       const UnitHead& head, const UnitBasis& basis, float step, Workspace& work)
    : basis_(basis),
      kernels_(kernels_of(context.backend)),
      work_(work),
      channels_(unit.channels()),
      first_token_(head.first_row()),
      offsets_(channel_offsets(basis, head.offsets, kernels_)) {
  for (const std::int8_t k : head.classes) steps_.push_back(step * class_factor(k));
  const auto positions = positions_of(unit, first_token_);
  std::int64_t channel = 0;
  for (const auto& tensor : unit.tensors) {
    const TensorShape& shape = tensor.values.shape;
    const bool turns = is_rotated(context, tensor.kind, tensor.rope, shape.dim);
    rotations_.push_back(turns ? work.rotations.of(*tensor.rope, positions, context.backend)
                               : nullptr);
    for (std::int64_t i = 0; i < shape.heads; ++i, channel += shape.dim)
      heads_.push_back(
          {&tensor.values, i, channel, rotations_.back().get(), fills_whole_lines(tensor.values)});
  }
}

bool HeadWriter::takes_pieces() const {
  return std::ranges::all_of(heads_,
                             [](const Head& head) { return head.tensor->shape.dim % kLanes == 0; });
}

std::int64_t HeadWriter::first_channel(std::int64_t index) const {
  return heads_[static_cast<std::size_t>(index)].first_channel;
}

std::int64_t HeadWriter::dim(std::int64_t index) const {
  return heads_[static_cast<std::size_t>(index)].tensor->shape.dim;
}

HeadFinish HeadWriter::finish_of(const Head& head) const {
  const MutableTensorView& to = *head.tensor;
  const std::int64_t width = bytes_per_element(to.shape.dtype);
  HeadFinish finish{
      .steps = steps_.data(),
      .scales = basis_.scales.data() + head.first_channel,
      .offsets = offsets_.data() + head.first_channel,
      .turn = {},
      .dtype = to.shape.dtype,
      .dim = to.shape.dim,
      .elements = to.data + (head.head * to.strides.head + first_token_ * to.strides.token) * width,
      .row_bytes = to.strides.token * width,
      .streams = head.streams};
  if (head.rotation != nullptr) {
    const RotationTable& table = *head.rotation;
    finish.turn = {table.cosines.data(), table.sines.data(), table.pairs, table.pairing};
  }
  return finish;
}

template <typename Number>
void HeadWriter::write(std::int64_t index, const HeadLines<Number>& numbers,
                       std::int64_t first_row) {
  const Head& head = heads_[static_cast<std::size_t>(index)];
  const MutableTensorView& to = *head.tensor;
  HeadFinish own = finish_of(head).from(first_row);
  if (to.strides.dim == 1) return finish(kernels_, numbers, own);
  // To fp32 side by side first, then one by one.
  work_.values.resize(static_cast<std::size_t>(numbers.lines * own.dim));
  own.dtype = Dtype::kFp32;
  own.streams = false;
  own.elements = std::as_writable_bytes(std::span(work_.values)).data();
  own.row_bytes = own.dim * bytes_per_element(Dtype::kFp32);
  finish(kernels_, numbers, own);
  for (std::int64_t row = 0; row < numbers.lines; ++row) {
    for (std::int64_t d = 0; d < own.dim; ++d)
      to.set(head.head, first_token_ + first_row + row, d,
             work_.values[static_cast<std::size_t>(row * own.dim + d)]);
  }
}

template <typename Number>
void HeadWriter::write_rows(const Number* numbers, std::int64_t rows, std::int64_t first_row) {
  for (std::int64_t i = 0; i < num_heads(); ++i)
    write(i,
          HeadLines<Number>{
              .first = numbers + first_channel(i), .line_stride = channels_, .lines = rows},
          first_row);
}

template void HeadWriter::write_rows(const std::int16_t*, std::int64_t, std::int64_t);
template void HeadWriter::write_rows(const std::int32_t*, std::int64_t, std::int64_t);

std::int64_t HeadSink::find(std::int64_t column) {
  if (column == 0) head_ = 0;
  while (column >= heads_.first_channel(head_) + heads_.dim(head_)) ++head_;
  return (column - heads_.first_channel(head_)) / kLanes;
}

std::int16_t* HeadSink::room(std::int64_t column, std::int64_t rows) {
  const std::int64_t piece = find(column);
  const auto size = static_cast<std::size_t>(heads_.dim(head_) * rows);
  pieces_.resize(std::max(pieces_.size(), size));
  return pieces_.data() + piece * kLanes * rows;
}

void HeadSink::take(const entropy::SymbolBlock& block) {
  std::int16_t* const own = room(block.column, block.rows);
  // A tile without bytes is decoded elsewhere.
  if (block.symbols != own) std::copy_n(block.symbols, block.rows * kLanes, own);
  if (find(block.column) + 1 < heads_.dim(head_) / kLanes) return;
  heads_.write(head_,
               HeadLines<std::int16_t>{.first = pieces_.data(),
                                       .line_stride = kLanes,
                                       .piece_stride = block.rows * kLanes,
                                       .lines = block.rows,
                                       .order = block.order},
               block.row);
}

}  // namespace sluice::ladder
