// What the machine's memory can do: the ceilings that codecs are compared with.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"

namespace sluice::bench {

// Two blocks of warm memory larger than the caches.
class Ceilings {
 public:
  Ceilings();
  [[nodiscard]] static std::size_t num_bytes();
  // Each goes once over a block, split between `cores` threads.
  [[nodiscard]] Status copy(int cores);             // memcpy
  [[nodiscard]] Status streaming_write(int cores);  // past the caches where the CPU can
  [[nodiscard]] Status streaming_read(int cores);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> from_, to_;
};

}  // namespace sluice::bench
