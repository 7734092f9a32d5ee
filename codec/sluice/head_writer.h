// A unit's whole numbers to its tensors' elements, head by head.
// Where in the flow: behind the entropy decoder and the basis, in decode.cc.
// Surprises: without a basis and without digits, symbols come straight from the entropy decoder, a
// head as soon as its last columns are there; no matrix of them is ever written. Whole lines of
// elements go around the caches however few they are, for the entropy decoder reads tables of
// megabytes at random and needs the caches more.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/entropy/binding.h"
#include "codec/sluice/unit.h"
#include "codec/sluice/unit_head.h"

namespace sluice::ladder {

// What the units of a section share: memory that the first of them fills, and tables.
struct Workspace {
  std::vector<std::int16_t> symbols;  // of a unit, or of one head
  std::vector<std::int32_t> sums;     // of some rows
  std::vector<float> values;          // of a head whose dims do not lie side by side
  RotationTables rotations{false};
};

class HeadWriter {
 public:
  // `step`: of the rung. What is given outlives it.
  HeadWriter(const SectionContext& context, const UnitOf<MutableTensorView>& unit,
             const UnitHead& head, const UnitBasis& basis, float step, Workspace& work);

  // Whether every head is whole pieces, as the entropy decoder hands them over.
  [[nodiscard]] bool takes_pieces() const;

  [[nodiscard]] std::int64_t num_heads() const { return std::ssize(heads_); }
  // Of head `index`, in the order of channels.
  [[nodiscard]] std::int64_t first_channel(std::int64_t index) const;
  [[nodiscard]] std::int64_t dim(std::int64_t index) const;
  // Rows from `first_row` on.
  template <typename Number>
  void write(std::int64_t index, const HeadLines<Number>& numbers, std::int64_t first_row);
  // All heads of `rows` rows of [row, channel].
  template <typename Number>
  void write_rows(const Number* numbers, std::int64_t rows, std::int64_t first_row);

 private:
  struct Head {
    const MutableTensorView* tensor;
    std::int64_t head;              // of the tensor
    std::int64_t first_channel;     // of the unit
    const RotationTable* rotation;  // null: none
    bool streams;                   // around the caches
  };
  [[nodiscard]] HeadFinish finish_of(const Head& head) const;

  const UnitBasis& basis_;
  const Kernels& kernels_;
  Workspace& work_;
  std::int64_t channels_;
  std::int64_t first_token_;  // of row 0
  std::vector<float> steps_;  // [row]
  std::vector<float> offsets_;
  std::vector<std::shared_ptr<const RotationTable>> rotations_;  // [tensor]
  std::vector<Head> heads_;
};

// Takes the symbols of a plane, and writes each head when it is whole. takes_pieces() of `heads`.
class HeadSink final : public entropy::BlockSink {
 public:
  HeadSink(HeadWriter& heads, Workspace& work) : heads_(heads), pieces_(work.symbols) {}
  std::int16_t* room(std::int64_t column, std::int64_t rows) override;
  void take(const entropy::SymbolBlock& block) override;

 private:
  // Goes to the head of a column, and returns the piece of it that begins there.
  std::int64_t find(std::int64_t column);

  HeadWriter& heads_;
  std::vector<std::int16_t>& pieces_;  // of the head that is being read: [piece, line, lane]
  std::int64_t head_ = 0;
};

}  // namespace sluice::ladder
