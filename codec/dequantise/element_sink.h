// Blocks of symbols, as the entropy coder decodes them, straight to the elements of a tensor.
// Where in the flow: codecs hand it to entropy::decode_plane(); no tensor of symbols ever exists.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/backend.h"
#include "codec/dequantise/kernel.h"
#include "codec/entropy/binding.h"
#include "codec/tensor_view.h"

namespace sluice::dequantise {

// value(row, channel) = base(row, channel) + symbol * step(row), at the row's token.
class ElementSink final : public entropy::BlockSink {
 public:
  // `is_streamed`: see codec/streaming.h.
  ElementSink(const MutableTensorView& tensor, Backend backend, bool is_streamed);

  // Rows come in the order of the plane. `base` holds one number per channel, is borrowed, and is
  // given for every row or for none.
  void add_row(std::int64_t token, float step, const float* base = nullptr);

  void take(const entropy::SymbolBlock& block) override;

 private:
  // Columns of a block that lie in one head.
  void take_head(const entropy::SymbolBlock& block, std::int64_t column, int columns);
  void take_scattered(const entropy::SymbolBlock& block);

  MutableTensorView tensor_;
  BlockKernel kernel_;
  bool streams_;
  std::vector<std::int64_t> tokens_;
  std::vector<float> steps_;
  std::vector<const float*> bases_;
  std::vector<std::byte*> rows_;  // of head 0
};

}  // namespace sluice::dequantise
