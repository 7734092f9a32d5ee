// Tables that every kernel on a device shares: laid out once, copied there once.
// Where in the flow: host side, under cuda_tables.cc and cuda_symbol_tables.cc.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <type_traits>
#include <vector>

#include "codec/device/cuda_handles.h"

namespace sluice::entropy {

// A struct with pointers, and behind it the arrays that they point to.
template <typename Struct>
class DeviceImage {
 public:
  DeviceImage() : bytes_(sizeof(Struct)) {}
  // Where the array will start, in bytes from the image's start.
  template <typename T>
  std::size_t add(const T* values, std::size_t count) {
    constexpr std::size_t kAlignment = 256;
    const std::size_t at = (bytes_.size() + kAlignment - 1) / kAlignment * kAlignment;
    bytes_.resize(at + count * sizeof(T));
    std::memcpy(bytes_.data() + at, values, count * sizeof(T));
    return at;
  }
  // Into new device memory; point(base) sets the struct's pointers before.
  template <typename Point>
  [[nodiscard]] Result<DeviceBuffer> upload(Struct content, Point point) {
    const char* const doing = "copying the entropy coder's tables";
    auto buffer = make_device_buffer(bytes_.size());
    if (!buffer) return buffer;
    point(content, buffer->data());
    std::memcpy(bytes_.data(), &content, sizeof content);
    const auto error = cudaMemcpyAsync(buffer->data(), bytes_.data(), bytes_.size(),
                                       cudaMemcpyHostToDevice, nullptr);
    if (Status status = check_cuda(error, doing); !status) return status.error();
    if (Status status = check_cuda(cudaStreamSynchronize(nullptr), doing); !status)
      return status.error();
    return buffer;
  }

 private:
  std::vector<std::byte> bytes_;
};

// Points at an array of an image in device memory.
template <typename Pointer>
void point_at(Pointer*& pointer, const std::byte* base_dev, std::size_t at) {
  pointer = reinterpret_cast<Pointer*>(const_cast<std::byte*>(base_dev) + at);
}

// One image per device, made at the first call there.
template <typename Struct>
class OncePerDevice {
 public:
  [[nodiscard]] Result<const Struct*> get(Result<DeviceBuffer> (*upload)()) {
    int device = 0;
    if (Status status = check_cuda(cudaGetDevice(&device), "asking for the device"); !status)
      return status.error();
    const std::scoped_lock lock(mutex_);
    auto found = of_device_.find(device);
    if (found == of_device_.end()) {
      auto buffer = upload();
      if (!buffer) return buffer.error();
      found = of_device_.emplace(device, std::move(*buffer)).first;
    }
    return reinterpret_cast<const Struct*>(found->second.data());
  }

 private:
  std::mutex mutex_;
  std::map<int, DeviceBuffer> of_device_;
};

}  // namespace sluice::entropy
