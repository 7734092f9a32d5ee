#include "codec/lossless/binding.h"

#include "codec/entropy/binding.h"
#include "codec/lossless/section.h"

namespace sluice {

Codec lossless_codec() {
  return {.info = {.id = "lossless",
                   .summary = "every bit kept: signs and exponents entropy-coded per channel, "
                              "mantissas as they are",
                   .lossless = true,
                   .max_elements_per_byte = entropy::kMaxElementsPerByte,
                   .levels = {{"exact", "every bit kept, NaN payloads included"}}},
          .encode_section = lossless::encode_section,
          .decode_section = lossless::decode_section};
}

}  // namespace sluice
