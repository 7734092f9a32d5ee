// How much has been sent by when: straight pieces between the instants at which the rate changes.
// Where in the flow: the fluid tier keeps one per transfer and one per link; what arrives is the
// same curve, later.
// Surprises: pieces may lie in the future, as far as the network has planned; it forgets what is
// older than `memory`, the longest delay anybody looks back.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "base/nanobits.h"

namespace sluice {

class SentCurve {
 public:
  // From `at` on, where `sent` is reached, it grows at `rate` up to `limit`.
  struct Piece {
    Instant at;
    DataRate rate;
    Nanobits sent, limit;
  };

  explicit SentCurve(Duration memory = {}) : memory_(memory) {}
  void restart(Duration memory) {
    memory_ = memory;
    pieces_.clear();
    first_ = 0;
  }
  // Replaces all that was planned for its instant and later. `before` was sent ahead of the piece's
  // zero.
  void set(Piece piece, Nanobits before = {}) {
    if (pieces_.capacity() == 0) pieces_.reserve(kPiecesUsual);  // growing to it would cost more
    while (pieces_.size() > first_ && pieces_.back().at >= piece.at) pieces_.pop_back();
    // Field by field: a copy of what was written in parts a moment ago would wait for the memory.
    Piece& last = pieces_.emplace_back();
    last.at = piece.at;
    last.rate = piece.rate;
    last.sent = before + piece.sent;
    last.limit = before + piece.limit;
  }
  // Nobody will look back further than `memory` before `now`.
  void forget_before(Instant now) {
    const Instant horizon = now - memory_;
    // The last piece that began by the horizon holds there.
    while (first_ + 1 < pieces_.size() && pieces_[first_ + 1].at <= horizon) ++first_;
    if (first_ * 2 < pieces_.size()) return;  // moving the rest pays only now and then
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  // Zero before the first piece.
  [[nodiscard]] Nanobits at(Instant t) const {
    for (std::size_t i = pieces_.size(); i > first_; --i) {
      const Piece& piece = pieces_[i - 1];
      if (piece.at <= t)
        return min(piece.limit, piece.sent + Nanobits::flown(piece.rate, t - piece.at));
    }
    return {};
  }
  // When `amount` has been sent; nullopt when the pieces do not reach it.
  [[nodiscard]] std::optional<Instant> reaches(Nanobits amount) const {
    for (std::size_t i = first_; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      if (piece.limit < amount) continue;
      const std::optional<Duration> time = (amount - piece.sent).time_at(piece.rate);
      const bool in_time =
          time && (i + 1 == pieces_.size() || piece.at + *time <= pieces_[i + 1].at);
      if (in_time) return piece.at + *time;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kPiecesUsual = 32;  // of a slow start
  Duration memory_;
  std::vector<Piece> pieces_;  // from first_ on
  std::size_t first_ = 0;      // earlier ones are forgotten
};

}  // namespace sluice
