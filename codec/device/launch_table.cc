#include "codec/device/launch_table.h"

namespace sluice {
namespace {

constexpr LaunchRow kTable[] = {
#include "codec/device/launch_table.inc"
};

}  // namespace

std::span<const LaunchRow> launch_table() {
  return kTable;
}

const LaunchRow& launch_row(int compute_capability) {
  const LaunchRow* best = &kTable[0];
  for (const LaunchRow& row : kTable) {
    const bool same_major = row.compute_capability / 10 == compute_capability / 10;
    if (same_major && row.compute_capability <= compute_capability &&
        row.compute_capability > best->compute_capability) {
      best = &row;
    }
  }
  return *best;
}

}  // namespace sluice
