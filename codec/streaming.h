// When decoders write around the CPU's caches.
// Where in the flow: sections of codecs that do little per element, on the backends that can.
// Surprise: a store through the caches reads its line first, so a decoder that is bound by memory
// pays for half as much again; but what stays in a cache is found there by its reader.
#pragma once

#include <cstdint>
#include <span>

#include "codec/codec.h"

namespace sluice {

// From how much output of a section on. Sections of a whole context leave the caches before their
// reader comes; smaller ones may be read at once.
inline constexpr std::int64_t kStreamedBytesMin = 2 * 1024 * 1024;

[[nodiscard]] inline bool is_streamed(std::span<const MutableSectionTensor> tensors) {
  std::int64_t bytes = 0;
  for (const MutableSectionTensor& tensor : tensors) bytes += tensor.values.shape.size().bytes();
  return bytes >= kStreamedBytesMin;
}

}  // namespace sluice
