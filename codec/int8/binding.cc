#include "codec/int8/binding.h"

#include "codec/int8/avx2.h"
#include "codec/int8/kernel.h"
#include "codec/uniform/section.h"

namespace sluice {
namespace {

constexpr uniform::Width kWidth {
  .code_bytes = int8::code_bytes, .encode_token = int8::encode_token,
  .decode_token = int8::decode_token,
#if SLUICE_AVX2
  .encode_token_avx2 = int8::avx2::encode_token, .decode_rows_avx2 = int8::avx2::decode_rows
#endif
};

Result<EncodedSection> encode_section(const SectionContext& context,
                                      std::span<const SectionTensor> tensors) {
  return uniform::encode(kWidth, context, tensors);
}

Status decode_section(const SectionContext& context, std::span<const std::byte> payload,
                      std::span<const MutableSectionTensor> tensors) {
  return uniform::decode(kWidth, context, payload, tensors);
}

}  // namespace

Codec int8_codec() {
  return {.info = {.id = "int8",
                   .summary = "uniform symmetric quantisation to 8 bits, scales counted; level "
                              "`token` is CacheGen's 8-bit baseline",
                   .max_elements_per_byte = 1,
                   .levels = uniform::levels()},
          .encode_section = encode_section,
          .decode_section = decode_section};
}

}  // namespace sluice
