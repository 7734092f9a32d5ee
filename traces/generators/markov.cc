// A semi-Markov link: states with a rate and a dwell time, and the probabilities of what follows
// what.
// Surprise: it starts in the middle of a stay, drawn from the stationary law, so means hold from
// the first instant on.
#include <fmt/format.h>

#include <algorithm>

#include "base/parse.h"
#include "traces/generators/dwell.h"
#include "traces/generators/generator.h"
#include "traces/generators/markov_chain.h"

namespace sluice {
namespace {

constexpr std::size_t kMaxStates = 64;

DwellTime dwell_time(const MarkovSpec& spec, std::size_t state) {
  return {spec.dwell, spec.states[state].mean_dwell};
}

std::size_t draw_first_state(const MarkovSpec& spec, const TransitionMatrix& matrix,
                             RandomStream& random) {
  std::vector<double> time_shares = stationary_visits(matrix);
  double total = 0;
  for (std::size_t i = 0; i < time_shares.size(); ++i) {
    time_shares[i] *= to_seconds(spec.states[i].mean_dwell);
    total += time_shares[i];
  }
  return draw_index(time_shares, total, random);
}

Result<TransitionMatrix> parse_transitions(std::string_view text) {
  TransitionMatrix matrix;
  if (text.empty()) return matrix;
  for (const std::string_view row_text : split_list(text, '/')) {
    std::vector<double>& row = matrix.emplace_back();
    for (const std::string_view entry : split_list(row_text, ',')) {
      const Result<double> number =
          parse_number(entry, fmt::format("transitions[{}][{}]", matrix.size() - 1, row.size()));
      if (!number) return number.error();
      row.push_back(*number);
    }
  }
  return matrix;
}

}  // namespace

Status check(const MarkovSpec& spec) {
  if (spec.states.size() < 2 || spec.states.size() > kMaxStates) {
    return error_in("", fmt::format("states: {} of them", spec.states.size()),
                    fmt::format("use 2 to {}", kMaxStates));
  }
  for (std::size_t i = 0; i < spec.states.size(); ++i) {
    const std::string field = fmt::format("states[{}]", i);
    if (Status in_range = check_rate(spec.states[i].rate, field); !in_range) return in_range;
    if (Status in_range = check_time(spec.states[i].mean_dwell, field); !in_range) return in_range;
  }
  if (spec.transitions.empty()) return {};
  return check_transitions(spec.transitions, spec.states.size());
}

Status draw(const MarkovSpec& spec, RandomStream& random, Duration length, LinkTrace& trace) {
  for (std::size_t i = 0; i < spec.states.size(); ++i) {
    if (length / spec.states[i].mean_dwell <= kMaxGeneratedSteps) continue;
    return error_in(
        "",
        fmt::format("states[{}]: a dwell time of {} can make more than {} rate changes in {}", i,
                    exact_text(spec.states[i].mean_dwell), kMaxGeneratedSteps, exact_text(length)),
        "use a longer dwell time or a shorter trace");
  }
  const TransitionMatrix matrix =
      spec.transitions.empty() ? even_transitions(spec.states.size()) : spec.transitions;
  std::size_t state = draw_first_state(spec, matrix, random);
  Duration dwell = draw_rest(dwell_time(spec, state), random);
  StepList steps;
  while (true) {
    steps.append(std::min(dwell, length - steps.length()), spec.states[state].rate);
    if (steps.length() == length) break;
    state = draw_index(matrix[state], 1, random);
    dwell = draw_stay(dwell_time(spec, state), random);
  }
  std::move(steps).move_to(trace);
  return {};
}

std::string parameter_text(const MarkovSpec& spec) {
  std::vector<RateAndTime> list;
  for (const MarkovSpec::State& state : spec.states) list.push_back({state.rate, state.mean_dwell});
  std::string out = fmt::format("states={} dwell={}", rates_and_times_text(list),
                                kDwellLaws[static_cast<std::size_t>(spec.dwell)]);
  for (std::size_t i = 0; i < spec.transitions.size(); ++i) {
    out += fmt::format("{}{}", i == 0 ? " transitions=" : "/", fmt::join(spec.transitions[i], ","));
  }
  return out;
}

Result<GeneratorSpec> parse_markov(const Parameters& parameters) {
  const auto list = parse_rates_and_times(parameters.text("states"), "states");
  if (!list) return list.error();
  MarkovSpec spec;
  for (const RateAndTime& entry : *list) spec.states.push_back({entry.rate, entry.time});
  if (Status read = parameters.read("dwell", kDwellLaws, spec.dwell); !read) return read.error();
  Result<TransitionMatrix> transitions = parse_transitions(parameters.text("transitions"));
  if (!transitions) return transitions.error();
  spec.transitions = std::move(*transitions);
  return GeneratorSpec{spec};
}

}  // namespace sluice
