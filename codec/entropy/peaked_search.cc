#include "codec/entropy/peaked_search.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace sluice::entropy {
namespace {

// A wide column is judged by at most so many rows of a run.
constexpr std::int64_t kSampledRows = 256;

}  // namespace

void PeakedSearch::begin_group(const std::int16_t* symbols) {
  symbols_ = symbols;
  kernels_.find_extents(symbols, rows_, low_, high_);
  std::int32_t widest = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (is_narrow(lane)) widest = std::max(widest, high_[lane] - low_[lane] + 1);
  }
  constexpr std::int32_t kValues = 8;
  const std::int32_t span = (widest + kValues - 1) / kValues * kValues;
  counts_.resize(runs_.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    std::memset(&counts_[i], 0, sizeof counts_[i]);
    kernels_.count(symbols + runs_[i].begin * kLanes, runs_[i].end - runs_[i].begin, low_, span,
                   counts_[i].of_lane);
  }
}

ColumnModel PeakedSearch::model_of(const Candidate& candidate) {
  // The last phase is the quarter before a whole step.
  const std::int32_t phase = candidate.quarters & (kNumPhases - 1);
  const std::int32_t whole = (candidate.quarters - phase) / kNumPhases;
  const std::int32_t kind = candidate.shape * kNumPhases + phase;
  const bool has_phase = peaked_family().own[candidate.scale][kind];
  const std::int32_t centre =
      has_phase ? whole + (phase == kNumPhases - 1 ? 1 : 0) : whole + (phase >= 2 ? 1 : 0);
  return {static_cast<std::int16_t>(candidate.scale),
          static_cast<std::int16_t>(has_phase ? kind : candidate.shape * kNumPhases),
          static_cast<std::int16_t>(std::clamp(centre, -kMaxCentre, kMaxCentre))};
}

std::int64_t PeakedSearch::cost_of_narrow(int lane, const ColumnModel& model) const {
  const PeakedFamily& family = peaked_family();
  constexpr std::int32_t kStride = 16;
  const std::int32_t span =
      std::min(kCostWindow, (high_[lane] - low_[lane] + kStride) / kStride * kStride);
  const std::int32_t first =
      std::clamp(low_[lane] - model.centre - kPeakedCostFirst, 0, kPeakedCostSpan - kCostWindow);
  std::int64_t cost = 0;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const int table = family.table(peaked_scale(model.scale, runs_[i].shift), model.kind);
    cost += kernels_.weigh(counts_[i].of_lane[lane], family.costs(table) + first, span);
  }
  return cost;
}

std::int64_t PeakedSearch::cost_of_wide(int lane, const ColumnModel& model) const {
  const PeakedFamily& family = peaked_family();
  std::int64_t cost = 0;
  for (const Run& run : runs_) {
    const std::int64_t rows = run.end - run.begin;
    const std::int64_t stride = (rows + kSampledRows - 1) / kSampledRows;
    const std::int16_t* const costs =
        family.costs(family.table(peaked_scale(model.scale, run.shift), model.kind));
    std::int64_t of_run = 0;
    for (std::int64_t row = run.begin; row < run.end; row += stride) {
      const auto relative = static_cast<std::int16_t>(symbols_[row * kLanes + lane] - model.centre);
      of_run += costs[std::clamp(relative - kPeakedCostFirst, 0, kPeakedCostSpan - 1)];
    }
    cost += of_run * stride;
  }
  return cost;
}

std::int64_t PeakedSearch::cost(int lane, const ColumnModel& model) const {
  return peaked_family().kind_costs[model.kind] +
         (is_narrow(lane) ? cost_of_narrow(lane, model) : cost_of_wide(lane, model));
}

bool PeakedSearch::try_candidate(int lane, const Candidate& candidate) {
  if (candidate.scale < 1 || candidate.scale >= kNumPeakedScales) return false;
  const std::int64_t its = cost(lane, model_of(candidate));
  if (its >= best_cost_) return false;
  best_ = candidate;
  best_cost_ = its;
  return true;
}

void PeakedSearch::descend(int lane) {
  for (const std::int32_t stride : {4, 1}) {
    for (const std::int32_t step : {stride, -stride}) {
      Candidate next = best_;
      next.scale += step;
      while (try_candidate(lane, next)) next.scale += step;
    }
  }
}

ChosenModel PeakedSearch::run(int lane, const ColumnModel& start) {
  const bool is_constant = low_[lane] == high_[lane] && std::abs(low_[lane]) <= kMaxCentre;
  if (is_constant) return {{0, 0, low_[lane]}, 0};
  std::int64_t sum = 0;
  for (std::int64_t row = 0; row < rows_; ++row) sum += symbols_[row * kLanes + lane];
  // The nearest quarter.
  const std::int64_t twice = 2 * kNumPhases * sum + rows_;
  const std::int64_t floor = (twice >= 0 ? twice : twice - 2 * rows_ + 1) / (2 * rows_);
  best_ = {.scale = std::max<std::int32_t>(start.scale, 1),
           .shape = start.kind / kNumPhases,
           .quarters = static_cast<std::int32_t>(floor)};
  best_cost_ = cost(lane, model_of(best_));
  descend(lane);
  const Candidate middle = best_;
  for (std::int32_t shape = 0; shape < kNumPeakedShapes; ++shape) {
    for (std::int32_t step = -1; step <= 1 && shape != middle.shape; ++step) {
      try_candidate(lane, {middle.scale + step, shape, middle.quarters});
    }
  }
  for (const std::int32_t quarter : {1, -1}) {
    Candidate next = best_;
    next.quarters += quarter;
    while (try_candidate(lane, next)) next.quarters += quarter;
  }
  descend(lane);
  return {model_of(best_), best_cost_};
}

}  // namespace sluice::entropy
