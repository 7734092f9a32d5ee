// How much has been sent by when: straight pieces between the instants at which the rate changed.
// Where in the flow: the fluid tier keeps one per transfer and one per link; what arrives is the
// same curve, later.
// Surprise: it forgets what is older than `memory`, the longest delay anybody looks back.
#pragma once

#include <algorithm>
#include <vector>

#include "base/nanobits.h"

namespace sluice {

class SentCurve {
 public:
  explicit SentCurve(Duration memory = {}) : memory_(memory) {}
  void restart(Duration memory) {
    memory_ = memory;
    pieces_.clear();
  }
  // From `at` on, where `sent` is reached, it grows at `rate` up to `limit`. Instants do not go
  // back.
  void set(Instant at, Nanobits sent, DataRate rate, Nanobits limit) {
    if (!pieces_.empty() && pieces_.back().at == at) pieces_.pop_back();
    forget(at - memory_);
    pieces_.push_back({at, sent, rate, limit});
  }
  // Zero before the first piece.
  [[nodiscard]] Nanobits at(Instant t) const {
    for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
      if (piece->at <= t)
        return std::min(piece->limit, piece->sent + Nanobits::flown(piece->rate, t - piece->at));
    }
    return {};
  }

 private:
  struct Piece {
    Instant at;
    Nanobits sent;
    DataRate rate;
    Nanobits limit;
  };
  // Keeps the last piece that began by `horizon`: it holds there.
  void forget(Instant horizon) {
    if (pieces_.size() < 2 || pieces_[1].at > horizon) return;
    std::size_t old = 1;
    while (old + 1 < pieces_.size() && pieces_[old + 1].at <= horizon) ++old;
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(old));
  }

  Duration memory_;
  std::vector<Piece> pieces_;
};

}  // namespace sluice
