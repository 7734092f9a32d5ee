// In which orders the threads of a block run: several on the host SIMT layer, one on a GPU.
// Where in the flow: device tests run under each; tests/simt/kernel_order.cc and
// kernel_order_gpu.cc implement it.
#pragma once

#include <string>

namespace sluice {

[[nodiscard]] int num_kernel_orders();
void use_kernel_order(int index);
// What the SIMT layer found wrong since the last call, with kernel and threads; else empty.
[[nodiscard]] std::string take_kernel_fault();

}  // namespace sluice
