// What an element of a KV cache is stored as.
// Where in the flow: TensorShape holds one; alone here so that AVX2 and CUDA kernels can name it.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice {

enum class Dtype : std::uint8_t { kFp16 = 1, kBf16 = 2, kFp32 = 3 };

[[nodiscard]] constexpr std::int64_t bytes_per_element(Dtype dtype) {
  return dtype == Dtype::kFp32 ? 4 : 2;
}
[[nodiscard]] std::string_view to_text(Dtype dtype);  // "fp16", "bf16", "fp32"

}  // namespace sluice
