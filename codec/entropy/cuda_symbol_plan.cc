#include "codec/entropy/cuda_symbol_plan.h"

#include <cstring>
#include <numeric>

#include "codec/entropy/lane_tables.h"

namespace sluice::entropy {
namespace {

std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t kAlignment = 16;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

template <typename T>
std::size_t bytes_of(const std::vector<T>& list) {
  return aligned(list.size() * sizeof(T));
}

template <typename T>
void copy_list(std::byte* to, const std::vector<T>& list) {
  if (!list.empty()) std::memcpy(to, list.data(), list.size() * sizeof(T));
}

}  // namespace

void SymbolTileLister::begin_plane(std::uint32_t matrix, std::size_t at, std::uint16_t stage,
                                   std::span<const std::int8_t> shifts) {
  matrix_ = matrix, at_ = at, stage_ = stage, shifts_ = shifts;
}

SymbolTileLister::Order SymbolTileLister::add_order(const TileArea& area) {
  const RowOrder order = order_rows(area, shifts_);
  const Order added{.first_run = static_cast<std::uint32_t>(runs_.size()),
                    .num_runs = static_cast<std::uint32_t>(order.runs.size()),
                    .first_line = static_cast<std::uint32_t>(lines_.size())};
  for (const Run& run : order.runs) {
    runs_.push_back(
        {static_cast<std::uint32_t>(run.begin), static_cast<std::uint32_t>(run.end), run.shift});
  }
  if (order.rows.empty()) {
    lines_.resize(lines_.size() + static_cast<std::size_t>(area.rows));
    std::iota(lines_.end() - area.rows, lines_.end(), std::uint16_t{0});
  } else {
    lines_.insert(lines_.end(), order.rows.begin(), order.rows.end());
  }
  return added;
}

const char* SymbolTileLister::visit(const PlaneTile& tile) {
  const bool is_digits = tile.model == PlaneModel::kDigits;
  if (!is_digits && tile.model != PlaneModel::kPeaked) {
    return "a plane whose probability model a GPU does not decode into symbols";
  }
  const OrderKey key{shifts_.data(), tile.area.row, tile.area.rows};
  auto found = orders_.find(key);
  if (found == orders_.end()) found = orders_.emplace(key, add_order(tile.area)).first;
  const Order& order = found->second;
  tiles_.push_back({.at = at_ + tile.offset,
                    .models_at = num_models_,
                    .bytes = static_cast<std::uint32_t>(tile.bytes.size()),
                    .matrix = matrix_,
                    .row = static_cast<std::uint32_t>(tile.area.row),
                    .rows = static_cast<std::uint32_t>(tile.area.rows),
                    .column = static_cast<std::uint32_t>(tile.area.column),
                    .columns = static_cast<std::uint32_t>(tile.area.columns),
                    .first_run = order.first_run,
                    .num_runs = order.num_runs,
                    .first_line = order.first_line,
                    .model = static_cast<std::uint16_t>(tile.model),
                    .stage = stage_});
  num_models_ += static_cast<std::size_t>(groups_of(tile.area.columns) * kNumFields * kLanes);
  return nullptr;
}

std::size_t SymbolTileLister::runs_at() const {
  return bytes_of(tiles_);
}
std::size_t SymbolTileLister::lines_at() const {
  return runs_at() + bytes_of(runs_);
}
std::size_t SymbolTileLister::list_bytes() const {
  return lines_at() + bytes_of(lines_);
}

void SymbolTileLister::write_lists(std::byte* to) const {
  copy_list(to, tiles_);
  copy_list(to + runs_at(), runs_);
  copy_list(to + lines_at(), lines_);
}

}  // namespace sluice::entropy
