#include "traces/generators/markov_chain.h"

#include <fmt/format.h>

#include <cmath>

namespace sluice {
namespace {

// Whether every state is reachable from state 0 along arcs (forward) or against them.
bool all_reachable(const TransitionMatrix& matrix, bool forward, std::size_t& missing) {
  const std::size_t n = matrix.size();
  std::vector<bool> seen(n, false);
  std::vector<std::size_t> open{0};
  seen[0] = true;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    for (std::size_t next = 0; next < n; ++next) {
      if (seen[next] || (forward ? matrix[at][next] : matrix[next][at]) <= 0) continue;
      seen[next] = true;
      open.push_back(next);
    }
  }
  for (missing = 0; missing < n; ++missing) {
    if (!seen[missing]) return false;
  }
  return true;
}

Status check_row(const std::vector<double>& row, std::size_t from) {
  double sum = 0;
  for (std::size_t to = 0; to < row.size(); ++to) {
    if (!(row[to] >= 0 && row[to] <= 1)) {
      return error_in(
          "", fmt::format("transitions[{}][{}]: {} is not a probability", from, to, row[to]),
          "use a number from 0 to 1");
    }
    sum += row[to];
  }
  if (row[from] != 0) {
    return error_in("",
                    fmt::format("transitions[{}][{}]: a state does not follow itself", from, from),
                    "use 0, and a longer dwell time");
  }
  if (std::abs(sum - 1) > 1e-9) {
    return error_in("", fmt::format("transitions[{}]: the row sums to {}", from, sum),
                    "make each row sum to 1");
  }
  return {};
}

}  // namespace

TransitionMatrix even_transitions(std::size_t num_states) {
  const double each = 1.0 / static_cast<double>(num_states - 1);
  TransitionMatrix matrix(num_states, std::vector<double>(num_states, each));
  for (std::size_t i = 0; i < num_states; ++i) matrix[i][i] = 0;
  return matrix;
}

Status check_transitions(const TransitionMatrix& matrix, std::size_t num_states) {
  if (matrix.size() != num_states) {
    return error_in("",
                    fmt::format("transitions: {} rows for {} states", matrix.size(), num_states),
                    "give one row per state");
  }
  for (std::size_t from = 0; from < num_states; ++from) {
    if (matrix[from].size() != num_states) {
      return error_in("",
                      fmt::format("transitions[{}]: {} entries for {} states", from,
                                  matrix[from].size(), num_states),
                      "give one entry per state");
    }
    if (Status sound = check_row(matrix[from], from); !sound) return sound;
  }
  std::size_t missing = 0;
  if (!all_reachable(matrix, true, missing) || !all_reachable(matrix, false, missing)) {
    return error_in("",
                    fmt::format("transitions: states 0 and {} cannot reach each other", missing),
                    "connect all states");
  }
  return {};
}

std::vector<double> stationary_visits(TransitionMatrix matrix) {
  const std::size_t n = matrix.size();
  // Censor the chain on ever fewer states, from the last one down.
  for (std::size_t k = n - 1; k > 0; --k) {
    double to_lower = 0;
    for (std::size_t j = 0; j < k; ++j) to_lower += matrix[k][j];
    for (std::size_t i = 0; i < k; ++i) {
      matrix[i][k] /= to_lower;
      for (std::size_t j = 0; j < k; ++j) matrix[i][j] += matrix[i][k] * matrix[k][j];
    }
  }
  std::vector<double> visits(n, 0);
  visits[0] = 1;
  double total = 1;
  for (std::size_t k = 1; k < n; ++k) {
    for (std::size_t i = 0; i < k; ++i) visits[k] += visits[i] * matrix[i][k];
    total += visits[k];
  }
  for (double& share : visits) share /= total;
  return visits;
}

}  // namespace sluice
