#include "codec/int4/binding.h"

#include "codec/int4/kernel.h"
#include "codec/uniform/section.h"

namespace sluice {
namespace {

constexpr uniform::Width kWidth{int4::code_bytes, int4::encode_token, int4::decode_token};

Result<EncodedSection> encode_section(const SectionContext& context,
                                      std::span<const SectionTensor> tensors) {
  return uniform::encode(kWidth, context, tensors);
}

Status decode_section(const SectionContext& context, std::span<const std::byte> payload,
                      std::span<const MutableSectionTensor> tensors) {
  return uniform::decode(kWidth, context, payload, tensors);
}

}  // namespace

Codec int4_codec() {
  return {.info = {.id = "int4",
                   .summary = "uniform symmetric quantisation to 4 bits, scales counted",
                   .max_elements_per_byte = 2,
                   .levels = uniform::levels()},
          .encode_section = encode_section,
          .decode_section = decode_section};
}

}  // namespace sluice
