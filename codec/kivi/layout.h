// What a level of kivi-4 or kivi-2 is, and how a tensor lies in a section.
// Where in the flow: encode.cc writes it, decode.cc reads it; sizes follow from shapes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/codec.h"

namespace sluice::kivi {

struct Level {
  const char* name;
  const char* summary;
  std::int64_t group;     // tokens of a key's group, channels of a value's
  std::int64_t residual;  // last tokens of the tensor that stay as they are
};
[[nodiscard]] std::span<const Level> levels();
inline constexpr std::size_t kDefaultLevel = 1;  // group-32

// In this order: scales, zero points, codes, residual tokens.
struct Layout {
  bool is_per_channel = true;  // keys and latents; else values, per token
  std::int64_t channels = 0, group = 0;
  std::int64_t coded_tokens = 0, residual_tokens = 0;
  std::int64_t element_bytes = 0;  // of the residual
  int bits = 0;

  // Keys: [group of tokens, channel]; values: [token, group of channels].
  [[nodiscard]] std::int64_t scales_per_line() const {
    return is_per_channel ? channels : (channels + group - 1) / group;
  }
  [[nodiscard]] std::int64_t tokens_per_line() const { return is_per_channel ? group : 1; }
  [[nodiscard]] std::int64_t num_lines() const {
    return (coded_tokens + tokens_per_line() - 1) / tokens_per_line();
  }
  [[nodiscard]] std::int64_t num_scales() const { return num_lines() * scales_per_line(); }
  [[nodiscard]] std::int64_t code_bytes_per_token() const { return (channels * bits + 7) / 8; }
  [[nodiscard]] std::int64_t side_bytes() const { return 2 * 2 * num_scales(); }
  [[nodiscard]] std::int64_t bytes() const {
    return side_bytes() + coded_tokens * code_bytes_per_token() +
           residual_tokens * channels * element_bytes;
  }
};
[[nodiscard]] Layout layout_of(const SectionContext& context, int bits, TensorKind kind,
                               const TensorShape& shape);

[[nodiscard]] EncodedSection encode(const SectionContext& context, int bits,
                                    std::span<const SectionTensor> tensors);
[[nodiscard]] Status decode(const SectionContext& context, int bits,
                            std::span<const std::byte> payload,
                            std::span<const MutableSectionTensor> tensors);

}  // namespace sluice::kivi
