#include "tests/device/kernel_order.h"

#include "tests/simt/machine.h"

namespace sluice {
namespace {

constexpr simt::Schedule kSchedules[] = {
    {simt::Order::kForward, 1}, {simt::Order::kReverse, 1}, {simt::Order::kRandom, 1}};

}  // namespace

int num_kernel_orders() {
  return static_cast<int>(std::size(kSchedules));
}
void use_kernel_order(int index) {
  simt::set_schedule(kSchedules[index]);
}
std::string take_kernel_fault() {
  return simt::take_fault();
}

}  // namespace sluice
