// What the decoding loops of one whole tensor see: plain pointers and strides.
// Where in the flow: section.cc fills them for the backends that decode straight into the target's
// rows; no dependencies, so that any kind of source can include it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/dtype.h"

namespace sluice::uniform {

// One tensor's payload, its scales widened: [token, group]; codes are [token], each
// `code_bytes_per_token` long. Group g holds channels [g * group, (g + 1) * group), the last may
// be shorter.
struct CodedTensor {
  const float* scales;
  const std::uint8_t* codes;
  std::int64_t group, scales_per_token, code_bytes_per_token;
};

// A target whose channels lie in rows of `dim` elements side by side; at least one element.
struct Rows {
  std::byte* data;
  Dtype dtype;
  std::int64_t heads, tokens, dim;
  std::int64_t head_bytes, token_bytes;  // from one head or token to the next
  // Write around the caches. Rows begin at and fill whole 64-byte lines, and dim is a multiple of
  // 32.
  bool streams;
};

// kernel.set_scale(scale); kernel.decode(codes of the token, first channel, channels, address)
// for every run of one token that lies in one row and one group, in payload order. The kernel knows
// Kernel::kElementBytes of the target.
template <typename Kernel>
void for_each_run(const CodedTensor& coded, const Rows& rows, Kernel kernel) {
  for (std::int64_t token = 0; token < rows.tokens; ++token) {
    const float* scale = coded.scales + token * coded.scales_per_token;
    const std::uint8_t* codes = coded.codes + token * coded.code_bytes_per_token;
    std::int64_t channel = 0, left_in_group = 0;
    for (std::int64_t head = 0; head < rows.heads; ++head) {
      std::byte* row = rows.data + head * rows.head_bytes + token * rows.token_bytes;
      for (std::int64_t dim = 0; dim < rows.dim;) {
        if (left_in_group == 0) {
          kernel.set_scale(*scale++);
          left_in_group = coded.group;
        }
        const std::int64_t left_in_row = rows.dim - dim;
        const std::int64_t run = left_in_row < left_in_group ? left_in_row : left_in_group;
        kernel.decode(codes, channel, run, row + dim * Kernel::kElementBytes);
        channel += run;
        dim += run;
        left_in_group -= run;
      }
    }
  }
}

}  // namespace sluice::uniform
