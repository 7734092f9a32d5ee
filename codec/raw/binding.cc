#include "codec/raw/binding.h"

#include "codec/damage.h"
#include "codec/raw/kernel.h"

namespace sluice {
namespace {

Result<EncodedSection> encode_section(const SectionContext&,
                                      std::span<const SectionTensor> tensors) {
  std::size_t bytes = 0;
  for (const SectionTensor& tensor : tensors)
    bytes += static_cast<std::size_t>(tensor.values.shape.size().bytes());
  EncodedSection section{.payload = std::vector<std::byte>(bytes), .side_bytes = 0};
  std::span<std::byte> rest = section.payload;
  for (const SectionTensor& tensor : tensors) {
    const auto size = static_cast<std::size_t>(tensor.values.shape.size().bytes());
    raw::pack(tensor.values, rest.first(size));
    rest = rest.subspan(size);
  }
  return section;
}

Status decode_section(const SectionContext&, std::span<const std::byte> payload,
                      std::span<const MutableSectionTensor> tensors) {
  std::int64_t expected = 0;
  for (const MutableSectionTensor& tensor : tensors) expected += tensor.values.shape.size().bytes();
  const auto bytes = static_cast<std::int64_t>(payload.size());
  if (Status status = check_payload_size(bytes, expected); !status) return status;
  for (const MutableSectionTensor& tensor : tensors) {
    const auto size = static_cast<std::size_t>(tensor.values.shape.size().bytes());
    raw::unpack(payload.first(size), tensor.values);
    payload = payload.subspan(size);
  }
  return {};
}

}  // namespace

Codec raw_codec() {
  return {.info = {.id = "raw",
                   .summary = "elements as they are, in the cache's own dtype",
                   .lossless = true,
                   .max_elements_per_byte = 1,
                   .levels = {{"exact", "every bit kept"}}},
          .encode_section = encode_section,
          .decode_section = decode_section};
}

}  // namespace sluice
