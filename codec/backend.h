// Which code runs a codec's loops on this host: portable C++, or AVX2.
// Where in the flow: chosen once per call (SectionContext::backend); kernels exist once per
// backend. Surprise: it is never visible in a result. Encoded bytes and decoded tensors are the
// same to the bit; the CUDA backend, whose tensors live in device memory, is codec/device/.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

enum class Backend : std::uint8_t { kScalar = 0, kAvx2 = 1 };

[[nodiscard]] std::string_view to_text(Backend backend);  // "scalar", "avx2"

// Compiled in, and the CPU has what it needs (AVX2 with F16C and BMI2: x86-64-v3).
[[nodiscard]] bool is_available(Backend backend);
[[nodiscard]] std::vector<Backend> available_backends();
// The fastest available; asks the CPU once.
[[nodiscard]] Backend best_backend();

// A backend by name, if it is available here. The Error has no file.
[[nodiscard]] Result<Backend> backend_from_text(std::string_view name);

}  // namespace sluice
