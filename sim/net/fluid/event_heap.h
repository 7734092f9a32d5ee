// Channels by the instant of their next event: the earliest first, and any can be moved.
// Where in the flow: inside the fluid tier, which sets one timer of the clock for the earliest.
// Surprise: events of one instant come in the order in which their channels began.
#pragma once

#include <utility>
#include <vector>

#include "base/units.h"

namespace sluice {

// `Item` has next_at, order and heap_index, which is kNotInHeap outside.
template <typename Item>
class EventHeap {
 public:
  static constexpr std::size_t kNotInHeap = static_cast<std::size_t>(-1);

  // Moves `item` to `at`; Instant::max() takes it out.
  void set(Item& item, Instant at) {
    if (at == Instant::max()) return remove(item);
    const bool is_new = item.heap_index == kNotInHeap;
    if (!is_new && item.next_at == at) return;
    item.next_at = at;
    if (is_new) {
      item.heap_index = items_.size();
      items_.push_back(&item);
    }
    settle(item.heap_index);
  }
  void remove(Item& item) {
    if (item.heap_index == kNotInHeap) return;
    const std::size_t hole = std::exchange(item.heap_index, kNotInHeap);
    Item* const last = items_.back();
    items_.pop_back();
    if (last == &item) return;
    items_[hole] = last;
    last->heap_index = hole;
    settle(hole);
  }
  [[nodiscard]] Item* first() const { return items_.empty() ? nullptr : items_.front(); }

 private:
  static bool earlier(const Item& a, const Item& b) {
    return a.next_at != b.next_at ? a.next_at < b.next_at : a.order < b.order;
  }
  void settle(std::size_t i) {
    while (i > 0 && earlier(*items_[i], *items_[(i - 1) / 2])) {
      swap(i, (i - 1) / 2);
      i = (i - 1) / 2;
    }
    for (std::size_t child = 2 * i + 1; child < items_.size(); child = 2 * i + 1) {
      if (child + 1 < items_.size() && earlier(*items_[child + 1], *items_[child])) ++child;
      if (!earlier(*items_[child], *items_[i])) return;
      swap(i, child);
      i = child;
    }
  }
  void swap(std::size_t a, std::size_t b) {
    std::swap(items_[a], items_[b]);
    items_[a]->heap_index = a;
    items_[b]->heap_index = b;
  }

  std::vector<Item*> items_;
};

}  // namespace sluice
