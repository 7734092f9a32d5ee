#include "codec/kivi/binding.h"

#include "codec/kivi/layout.h"

namespace sluice {
namespace {

template <int kBits>
Result<EncodedSection> encode_section(const SectionContext& context,
                                      std::span<const SectionTensor> tensors) {
  return kivi::encode(context, kBits, tensors);
}

template <int kBits>
Status decode_section(const SectionContext& context, std::span<const std::byte> payload,
                      std::span<const MutableSectionTensor> tensors) {
  return kivi::decode(context, kBits, payload, tensors);
}

template <int kBits>
Codec kivi_codec(const char* id, const char* summary) {
  CodecInfo info{.id = id,
                 .summary = summary,
                 .max_elements_per_byte = 8 / kBits,
                 .default_level = kivi::kDefaultLevel};
  for (const kivi::Level& level : kivi::levels())
    info.levels.push_back({.name = level.name, .summary = level.summary});
  return {.info = std::move(info),
          .encode_section = encode_section<kBits>,
          .decode_section = decode_section<kBits>};
}

}  // namespace

Codec kivi_4_codec() {
  return kivi_codec<4>("kivi-4",
                       "KIVI at 4 bits: keys per channel, values per token, zero points "
                       "and scales counted");
}

Codec kivi_2_codec() {
  return kivi_codec<2>("kivi-2",
                       "KIVI at 2 bits: keys per channel, values per token, zero points "
                       "and scales counted");
}

}  // namespace sluice
