// A queue over one array that grows by doubling: no allocation once it is large enough.
// Where in the flow: queues and windows of the tiers with packets, millions of times per run.
// Surprise: popped elements are left behind as empty values, so T must be cheap to
// default-construct.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace sluice {

template <typename T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // Element `index` from the front.
  [[nodiscard]] T& operator[](std::size_t index) {
    SLUICE_ASSERT(index < size_, "past the end of a ring");
    return slots_[(first_ + index) & (slots_.size() - 1)];
  }
  [[nodiscard]] const T& operator[](std::size_t index) const {
    return const_cast<Ring&>(*this)[index];
  }
  [[nodiscard]] T& front() { return (*this)[0]; }
  [[nodiscard]] const T& front() const { return (*this)[0]; }
  void push_back(T value) {
    if (size_ == slots_.size()) grow();
    slots_[(first_ + size_++) & (slots_.size() - 1)] = std::move(value);
  }
  T pop_front() {
    T value = std::exchange(front(), T{});
    first_ = (first_ + 1) & (slots_.size() - 1);
    --size_;
    return value;
  }

 private:
  static constexpr std::size_t kSlotsMin = 16;

  void grow() {
    std::vector<T> larger(slots_.empty() ? kSlotsMin : slots_.size() * 2);  // a power of two
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace sluice
