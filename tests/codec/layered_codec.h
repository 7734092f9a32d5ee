// A codec with a refinement, for tests of containers that arrive in layers.
#pragma once

#include <vector>

#include "codec/codec.h"

namespace sluice {

// A layered codec for 16-bit elements: the base holds their high bytes, the refinement their low
// ones, each [tensor, head, token, dim].
inline Result<EncodedSection> encode_halves(const SectionContext& context,
                                            std::span<const SectionTensor> tensors) {
  EncodedSection section;
  for (const SectionTensor& tensor : tensors) {
    for (std::int64_t i = 0; i < tensor.values.shape.elements(); ++i)
      section.payload.push_back(tensor.values.data[2 * i + 1 - context.refinement]);
  }
  return section;
}

inline Status decode_halves(const SectionContext& context, std::span<const std::byte> payload,
                            std::span<const MutableSectionTensor> tensors) {
  if (context.refinement != static_cast<std::int32_t>(context.lower_payloads.size()))
    return error_in("", "payloads below the refinement are missing", "");
  const auto high = context.refinement == 0 ? payload : context.lower_payloads[0];
  std::size_t at = 0;
  for (const MutableSectionTensor& tensor : tensors) {
    for (std::int64_t i = 0; i < tensor.values.shape.elements(); ++i, ++at) {
      tensor.values.data[2 * i + 1] = high[at];
      tensor.values.data[2 * i] = context.refinement == 0 ? std::byte{0} : payload[at];
    }
  }
  return {};
}

[[nodiscard]] inline std::span<const Codec> layered_codecs() {
  static const std::vector<Codec> codecs{{.info = {.id = "halves",
                                                   .summary = "high bytes, then low bytes",
                                                   .levels = {{"both", "exact with both", 1}}},
                                          .encode_section = encode_halves,
                                          .decode_section = decode_halves}};
  return codecs;
}

}  // namespace sluice
