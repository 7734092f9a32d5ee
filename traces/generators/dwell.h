// Random stays: how long a state holds, what is left of it when a trace begins, and states that
// take turns. Where in the flow: under markov.cc, on_off.cc and mmwave.cc. Surprise: what is left
// of a stay that began before the trace did has another law than a whole stay.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/units.h"
#include "traces/generate.h"

namespace sluice {

struct DwellTime {
  DwellLaw law = DwellLaw::kExponential;
  Duration mean{};
};

// A whole stay, at least a nanosecond long and no longer than any trace.
[[nodiscard]] Duration draw_stay(const DwellTime& time, RandomStream& random);
// What is left of a stay that began before: exponential stays have no memory, of fixed ones a
// uniform share is left.
[[nodiscard]] Duration draw_rest(const DwellTime& time, RandomStream& random);

// An index with probability proportional to its weight.
[[nodiscard]] std::size_t draw_index(const std::vector<double>& weights, double total,
                                     RandomStream& random);

// States that follow each other in a fixed order, over and over; one of mean zero is passed over.
// It starts in its stationary law: in a state by its share of the time, in the middle of a stay.
class Turns {
 public:
  // At least one mean is above zero.
  Turns(std::vector<DwellTime> states, RandomStream& random);
  [[nodiscard]] std::size_t state() const { return state_; }
  // What is left of the present stay.
  [[nodiscard]] Duration left() const { return left_; }
  // Lets `time` pass.
  void advance(Duration time, RandomStream& random);

 private:
  void enter_next(RandomStream& random);

  std::vector<DwellTime> states_;
  std::size_t state_ = 0;
  Duration left_{};
};

// "exponential" or "fixed", in the order of DwellLaw.
inline constexpr std::array<std::string_view, 2> kDwellLaws{"exponential", "fixed"};

}  // namespace sluice
