// Which table of the peaked family a column gets: down the cost, with the costs of real frequencies
// in the rows of every shift.
// Where in the flow: under peaked_encode.cc. Surprise: any choice is a valid stream; this one is
// made of integers, so that it is the same on every host.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/entropy/kernel.h"
#include "codec/entropy/peaked_family.h"
#include "codec/entropy/tile.h"

namespace sluice::entropy {

// Searches for the columns of one group at a time.
class PeakedSearch {
 public:
  PeakedSearch(const std::vector<Run>& runs, std::int64_t rows, const Kernels& kernels)
      : runs_(runs), rows_(rows), kernels_(kernels) {}

  // The symbols of a group, [row in coding order][kLanes].
  void begin_group(const std::int16_t* symbols);
  // The model of a lane; neighbours are alike, so the search starts at that of the one before.
  [[nodiscard]] ChosenModel run(int lane, const ColumnModel& start);

 private:
  // A place of the grid: the mean in quarters of a step, and the shape.
  struct Candidate {
    std::int32_t scale = 1, shape = 0, quarters = 0;
  };
  [[nodiscard]] static ColumnModel model_of(const Candidate& candidate);
  [[nodiscard]] std::int64_t cost(int lane, const ColumnModel& model) const;
  [[nodiscard]] std::int64_t cost_of_narrow(int lane, const ColumnModel& model) const;
  [[nodiscard]] std::int64_t cost_of_wide(int lane, const ColumnModel& model) const;
  bool try_candidate(int lane, const Candidate& candidate);
  void descend(int lane);
  [[nodiscard]] bool is_narrow(int lane) const { return high_[lane] - low_[lane] < kCostWindow; }

  const std::vector<Run>& runs_;
  std::int64_t rows_;
  const Kernels& kernels_;
  const std::int16_t* symbols_ = nullptr;
  std::int16_t low_[kLanes], high_[kLanes];
  struct Counts {
    std::int16_t of_lane[kLanes][kCostWindow];  // from low_ on
  };
  std::vector<Counts> counts_;  // [run]
  Candidate best_;
  std::int64_t best_cost_ = 0;
};

}  // namespace sluice::entropy
