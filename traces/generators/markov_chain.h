// The jump chain of a Markov generator: its soundness and its stationary law.
// Where in the flow: under generators/markov.cc.
#pragma once

#include <vector>

#include "base/result.h"

namespace sluice {

using TransitionMatrix = std::vector<std::vector<double>>;  // [from, to]

// Every other state equally likely.
[[nodiscard]] TransitionMatrix even_transitions(std::size_t num_states);

// Refuses a matrix that is not square, entries outside 0..1, rows that do not sum to 1 within 1e-9,
// a diagonal that is not zero, and states that cannot be reached from every other.
[[nodiscard]] Status check_transitions(const TransitionMatrix& matrix, std::size_t num_states);

// The share of visits to each state in the long run, for a checked matrix. Grassmann, Taksar and
// Heyman, "Regenerative Analysis and Steady State Distributions for Markov Chains", Operations
// Research 33 (1985): no subtraction.
[[nodiscard]] std::vector<double> stationary_visits(TransitionMatrix matrix);

}  // namespace sluice
