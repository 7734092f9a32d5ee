#include "codec/entropy/cuda_tables.h"

#include <map>
#include <mutex>

#include "codec/device/cuda_handles.h"

namespace sluice::entropy {
namespace {

ClassTables describe_tables(const Slot* slots_dev) {
  const ClassFamily& family = class_family();
  ClassTables tables;
  tables.slots = slots_dev;
  for (std::int32_t scale = 0; scale < kNumScales; ++scale) {
    for (std::int32_t kind = 0; kind < kNumKinds; ++kind) {
      const int table = family.table(scale, kind);
      tables.singles[scale][kind] =
          static_cast<std::int32_t>(family.tables.slot_offset(table, false));
      tables.pairs[scale][kind] =
          family.tables.has_pairs(table)
              ? static_cast<std::int32_t>(family.tables.slot_offset(table, true))
              : -1;
    }
  }
  tables.kinds = static_cast<std::int32_t>(family.tables.slot_offset(family.kind_table, false));
  return tables;
}

Status copy_now(void* to_dev, const void* from, std::size_t bytes) {
  const char* const doing = "copying the class family's tables";
  const auto error = cudaMemcpyAsync(to_dev, from, bytes, cudaMemcpyHostToDevice, nullptr);
  if (Status status = check_cuda(error, doing); !status) return status;
  return check_cuda(cudaStreamSynchronize(nullptr), doing);
}

// [ClassTables][slots]
Result<DeviceBuffer> upload_tables() {
  const TableSet& tables = class_family().tables;
  const std::size_t slot_bytes = tables.num_slots() * sizeof(Slot);
  constexpr std::size_t kSlotsAt = (sizeof(ClassTables) + 255) / 256 * 256;
  auto buffer = make_device_buffer(kSlotsAt + slot_bytes);
  if (!buffer) return buffer;
  const ClassTables described =
      describe_tables(reinterpret_cast<const Slot*>(buffer->data() + kSlotsAt));
  if (Status status = copy_now(buffer->data() + kSlotsAt, tables.slots(), slot_bytes); !status)
    return status.error();
  if (Status status = copy_now(buffer->data(), &described, sizeof described); !status)
    return status.error();
  return buffer;
}

}  // namespace

Result<const ClassTables*> class_tables_on_device() {
  static std::mutex mutex;
  static std::map<int, DeviceBuffer> tables_of_device;
  int device = 0;
  if (Status status = check_cuda(cudaGetDevice(&device), "asking for the device"); !status)
    return status.error();
  const std::scoped_lock lock(mutex);
  auto found = tables_of_device.find(device);
  if (found == tables_of_device.end()) {
    auto buffer = upload_tables();
    if (!buffer) return buffer.error();
    found = tables_of_device.emplace(device, std::move(*buffer)).first;
  }
  return reinterpret_cast<const ClassTables*>(found->second.data());
}

}  // namespace sluice::entropy
