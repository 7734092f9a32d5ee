#include "sim/serving/workload_draws.h"

#include <algorithm>
#include <memory>

#include "base/random.h"
#include "sim/serving/chat_draws.h"

namespace sluice {
namespace {

// Contexts of their own, a share of which begin with one of a few texts. What warms the cache draws
// from streams of its own: how many requests do so does not move the loads.
class IndependentDraws {
 public:
  IndependentDraws(const Scenario& s, std::uint64_t replicate, std::int64_t warm_up)
      : contexts_(std::get<IndependentContexts>(s.workload.contexts)),
        range_(s.workload.context_tokens),
        with_blocks_(s.workload.prefix_cache.has_value()),
        warm_ups_left_(warm_up),
        loads_{RandomStream(s.seed, "context-tokens", replicate),
               RandomStream(s.seed, "shared-prefixes", replicate)},
        warm_ups_{RandomStream(s.seed, "warm-up-context-tokens", replicate),
                  RandomStream(s.seed, "warm-up-shared-prefixes", replicate)} {
    if (with_blocks_) prefixes_.resize(static_cast<std::size_t>(contexts_.shared_count));
  }

  RequestDraw operator()() {
    if (warm_ups_left_ == 0) return draw(loads_);
    --warm_ups_left_;
    RequestDraw request = draw(warm_ups_);
    request.is_load = false;
    return request;
  }

 private:
  struct Streams {
    RandomStream lengths, shares;
  };

  RequestDraw draw(Streams& streams) {
    RequestDraw draw{
        .context_tokens = draw_count(range_, streams.lengths), .blocks = {}, .session = {}};
    if (!with_blocks_) return draw;
    if (streams.shares.bernoulli(contexts_.shared_fraction)) {
      const std::vector<std::uint64_t>& prefix = drawn_prefix(streams.shares);
      const auto shared =
          std::min(static_cast<std::int64_t>(prefix.size()), whole_blocks(draw.context_tokens));
      draw.blocks.assign(prefix.begin(), prefix.begin() + shared);
    }
    ids_.add_fresh(draw.blocks,
                   all_blocks(draw.context_tokens) - static_cast<std::int64_t>(draw.blocks.size()));
    return draw;
  }

  const std::vector<std::uint64_t>& drawn_prefix(RandomStream& random) {
    std::vector<std::uint64_t>& prefix =
        prefixes_[static_cast<std::size_t>(random.below(prefixes_.size()))];
    if (prefix.empty()) ids_.add_fresh(prefix, whole_blocks(contexts_.shared_tokens));
    return prefix;
  }

  IndependentContexts contexts_;
  TokenCountRange range_;
  bool with_blocks_;
  std::int64_t warm_ups_left_;
  Streams loads_, warm_ups_;
  BlockIds ids_;
  std::vector<std::vector<std::uint64_t>> prefixes_;  // made when first drawn
};

RequestDraw to_draw(WorkloadRequest request, bool with_blocks) {
  RequestDraw draw{.context_tokens = request.input_tokens, .blocks = {}, .session = {}};
  if (with_blocks) draw.blocks = std::move(request.blocks);
  return draw;
}

Duration scaled(Duration time, double scale) {
  if (scale == 1) return time;  // exact
  return nanoseconds_to_duration(static_cast<double>(to_ns(time)) * scale);
}

// The times of the trace on the run's clock, spread and scaled; then in order of arrival. The loads
// draw before the requests that warm the cache: how many these are does not move the loads.
void set_arrivals(std::vector<RequestDraw>& draws, const std::vector<WorkloadRequest>& requests,
                  const TraceArrivals& arrivals, std::size_t first_load, RandomStream random) {
  const Duration origin = *requests[first_load].arrival;
  for (std::size_t n = 0; n < draws.size(); ++n) {
    const std::size_t i = (first_load + n) % draws.size();
    Duration time = *requests[i].arrival - origin;
    if (arrivals.debunch > Duration::zero()) {
      time += nanoseconds(static_cast<std::int64_t>(
          random.below(static_cast<std::uint64_t>(to_ns(arrivals.debunch)))));
    }
    draws[i].arrival = scaled(time, arrivals.time_scale);
  }
  std::stable_sort(draws.begin(), draws.end(), [](const RequestDraw& a, const RequestDraw& b) {
    return a.arrival < b.arrival;
  });
}

Result<std::vector<RequestDraw>> replay(const Scenario& s, std::uint64_t replicate) {
  const auto& replayed = std::get<ReplayedContexts>(s.workload.contexts);
  const std::int64_t loads = s.workload.loads;
  std::int64_t first_load = 0;
  if (replayed.first) {
    first_load = *replayed.first;
  } else {
    const std::int64_t num_starts = replayed.source.summary().num_requests - loads + 1;
    RandomStream starts(s.seed, "workload-start", replicate);
    first_load = static_cast<std::int64_t>(starts.below(static_cast<std::uint64_t>(num_starts)));
  }
  const std::int64_t warm_up =
      s.workload.prefix_cache ? std::min(s.workload.prefix_cache->warm_up, first_load) : 0;
  Result<std::vector<WorkloadRequest>> requests =
      replayed.source.requests(first_load - warm_up, warm_up + loads);
  if (!requests) return requests.error();
  std::vector<RequestDraw> draws;
  for (WorkloadRequest& request : *requests) {
    draws.push_back(to_draw(std::move(request), s.workload.prefix_cache.has_value()));
    draws.back().is_load = static_cast<std::int64_t>(draws.size()) > warm_up;
  }
  if (const auto* arrivals = std::get_if<TraceArrivals>(&s.workload.arrivals)) {
    set_arrivals(draws, *requests, *arrivals, static_cast<std::size_t>(warm_up),
                 RandomStream(s.seed, "debunch", replicate));
  }
  return draws;
}

}  // namespace

Result<RequestSource> make_request_source(const Scenario& s, std::uint64_t replicate) {
  const WorkloadSetting& w = s.workload;
  if (const auto* replayed = std::get_if<ReplayedContexts>(&w.contexts)) {
    Result<std::vector<RequestDraw>> draws = replay(s, replicate);
    if (!draws) return draws.error();
    RequestSource source{.num_requests = static_cast<std::int64_t>(draws->size()),
                         .block_tokens = replayed->source.summary().block_tokens.value_or(1),
                         .next = {}};
    source.next = [all = std::make_shared<std::vector<RequestDraw>>(std::move(*draws)),
                   index = std::size_t{0}]() mutable { return std::move((*all)[index++]); };
    return source;
  }
  const std::int64_t warm_up = w.prefix_cache ? w.prefix_cache->warm_up : 0;
  RequestSource source{
      .num_requests = warm_up + w.loads, .block_tokens = kDrawnBlockTokens, .next = {}};
  if (std::holds_alternative<ChatContexts>(w.contexts)) {
    source.next = ChatDraws(s, replicate, warm_up);
  } else {
    source.next = IndependentDraws(s, replicate, warm_up);
  }
  return source;
}

}  // namespace sluice
