#include "codec/device/tensor.h"

namespace sluice {

bool lies_in_eights(const DeviceTensor& tensor) {
  constexpr std::int64_t kEight = 8;
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data_dev);
  return tensor.shape.dim % kEight == 0 && tensor.strides.dim == 1 &&
         tensor.strides.head % kEight == 0 && tensor.strides.token % kEight == 0 &&
         tensor.block_stride % kEight == 0 && address % 16 == 0;
}

}  // namespace sluice
