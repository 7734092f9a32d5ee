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

// A store around the caches writes a whole line: decoders do it for so many elements of a row at a
// time.
inline constexpr std::int64_t kLineBytes = 64;
inline constexpr std::int64_t kStreamedElems = 32;

// Whether every kStreamedElems elements of a row, counted from its start, are whole lines.
[[nodiscard]] inline bool fills_whole_lines(const MutableTensorView& tensor) {
  const std::int64_t width = bytes_per_element(tensor.shape.dtype);
  return tensor.strides.dim == 1 && tensor.shape.dim % kStreamedElems == 0 &&
         tensor.strides.head * width % kLineBytes == 0 &&
         tensor.strides.token * width % kLineBytes == 0 &&
         reinterpret_cast<std::uintptr_t>(tensor.data) % kLineBytes == 0;
}

// Whether a section with these tensors is large enough.
[[nodiscard]] inline bool is_streamed(std::span<const MutableSectionTensor> tensors) {
  std::int64_t bytes = 0;
  for (const MutableSectionTensor& tensor : tensors) bytes += tensor.values.shape.size().bytes();
  return bytes >= kStreamedBytesMin;
}

}  // namespace sluice
