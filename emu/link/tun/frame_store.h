// The bytes of the frames that a link holds, from the oldest to the newest.
// Where in the flow: beside the schedule of a direction, which knows a frame by its number.
// Surprise: frames leave in the order in which they came, since the link keeps packets in order; so
// whatever is older than the frame that leaves now is done with.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "base/assert.h"
#include "base/ring.h"
#include "emu/link/tun/ip_frame.h"

namespace sluice {

struct StoredFrame {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;
  FrameLayout layout;
  [[nodiscard]] std::span<const std::byte> span() const { return {bytes.get(), size}; }
};

class FrameStore {
 public:
  static constexpr std::size_t kFrameMax = kVnetHeader + 65535;  // of IPv4

  // Where the next frame is read to: kFrameMax bytes.
  [[nodiscard]] std::span<std::byte> scratch() {
    if (!scratch_ && !spare_.empty()) {
      scratch_ = std::move(spare_.back());
      spare_.pop_back();
    }
    if (!scratch_) scratch_ = std::make_unique_for_overwrite<std::byte[]>(kFrameMax);
    return {scratch_.get(), kFrameMax};
  }
  // The number that the next frame kept will have.
  [[nodiscard]] std::uint64_t next_number() const { return first_ + frames_.size(); }
  // Keeps the first `size` bytes of the scratch.
  void keep(std::size_t size, const FrameLayout& layout) {
    if (size >= kLarge) return frames_.push_back({std::move(scratch_), size, layout});
    auto copy = std::make_unique_for_overwrite<std::byte[]>(size);
    std::copy_n(scratch_.get(), size, copy.get());
    frames_.push_back({std::move(copy), size, layout});
  }
  // Forgets the frames before `number`.
  void release_before(std::uint64_t number) {
    for (; first_ < number; ++first_) {
      StoredFrame done = frames_.pop_front();
      if (done.size >= kLarge && spare_.size() < kSpareMax) spare_.push_back(std::move(done.bytes));
    }
  }
  [[nodiscard]] const StoredFrame& at(std::uint64_t number) const {
    SLUICE_ASSERT(number >= first_, "a frame that has been released");
    return frames_[number - first_];
  }

 private:
  static constexpr std::size_t kLarge = kFrameMax / 4;  // smaller ones are copied to their size
  static constexpr std::size_t kSpareMax = 256;         // 16 MB

  Ring<StoredFrame> frames_;
  std::uint64_t first_ = 0;
  std::unique_ptr<std::byte[]> scratch_;
  std::vector<std::unique_ptr<std::byte[]>> spare_;
};

}  // namespace sluice
