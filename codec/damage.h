// What every backend of a codec says of a payload that no encoder wrote, in the same words.
// Where in the flow: decoders of sections, on the CPU and on a GPU. The Error has no file: the
// caller adds it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace sluice {

[[nodiscard]] Error damaged(const std::string& what);

// For codecs whose shapes tell the length.
[[nodiscard]] Status check_payload_size(std::int64_t bytes, std::int64_t expected);

}  // namespace sluice
