#include "codec/raw/binding.h"

#include "codec/damage.h"
#include "codec/raw/avx2.h"
#include "codec/raw/kernel.h"
#include "codec/streaming.h"

namespace sluice {
namespace {

Result<EncodedSection> encode_section(const SectionContext&,
                                      std::span<const SectionTensor> tensors) {
  std::size_t bytes = 0;
  for (const SectionTensor& tensor : tensors)
    bytes += static_cast<std::size_t>(tensor.values.shape.size().bytes());
  EncodedSection section;
  section.payload.reserve(bytes);
  for (const SectionTensor& tensor : tensors) raw::append(tensor.values, section.payload);
  return section;
}

// Around the caches for large outputs, where the backend can.
raw::Copy copy_for(Backend backend, std::int64_t output_bytes) {
#if SLUICE_AVX2
  if (backend == Backend::kAvx2 && output_bytes >= kStreamedBytesMin)
    return raw::avx2::copy_around_caches;
#endif
  (void)backend, (void)output_bytes;
  return raw::copy_bytes;
}

Status decode_section(const SectionContext& context, std::span<const std::byte> payload,
                      std::span<const MutableSectionTensor> tensors) {
  std::int64_t expected = 0;
  for (const MutableSectionTensor& tensor : tensors) expected += tensor.values.shape.size().bytes();
  const auto bytes = static_cast<std::int64_t>(payload.size());
  if (Status status = check_payload_size(bytes, expected); !status) return status;
  const raw::Copy copy = copy_for(context.backend, expected);
  for (const MutableSectionTensor& tensor : tensors) {
    const auto size = static_cast<std::size_t>(tensor.values.shape.size().bytes());
    raw::unpack(payload.first(size), tensor.values, copy);
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
