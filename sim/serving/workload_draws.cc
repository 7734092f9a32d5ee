#include "sim/serving/workload_draws.h"

#include <algorithm>
#include <memory>

#include "base/random.h"

namespace sluice {
namespace {

constexpr std::int64_t kDrawnBlockTokens = 16;  // of contexts that are not a trace's

std::int64_t draw_count(const TokenCountRange& range, RandomStream& random) {
  const auto width = static_cast<std::uint64_t>(range.high - range.low + 1);
  return range.low + static_cast<std::int64_t>(random.below(width));
}

// Gives out block ids that no other block has.
class BlockIds {
 public:
  void add_fresh(std::vector<std::uint64_t>& blocks, std::int64_t num_blocks) {
    for (; num_blocks > 0; --num_blocks) blocks.push_back(next_++);
  }

 private:
  std::uint64_t next_ = 0;
};

std::int64_t whole_blocks(std::int64_t tokens) {
  return tokens / kDrawnBlockTokens;
}
std::int64_t all_blocks(std::int64_t tokens) {
  return (tokens + kDrawnBlockTokens - 1) / kDrawnBlockTokens;
}

// Contexts of their own, a share of which begin with one of a few texts.
class IndependentDraws {
 public:
  IndependentDraws(const Scenario& s, std::uint64_t replicate)
      : contexts_(std::get<IndependentContexts>(s.workload.contexts)),
        range_(s.workload.context_tokens),
        with_blocks_(s.workload.prefix_cache.has_value()),
        lengths_(s.seed, "context-tokens", replicate),
        shares_(s.seed, "shared-prefixes", replicate) {
    if (with_blocks_) prefixes_.resize(static_cast<std::size_t>(contexts_.shared_count));
  }

  RequestDraw operator()() {
    RequestDraw draw{.context_tokens = draw_count(range_, lengths_), .blocks = {}, .session = {}};
    if (!with_blocks_) return draw;
    if (shares_.bernoulli(contexts_.shared_fraction)) {
      const std::vector<std::uint64_t>& prefix = drawn_prefix();
      const auto shared =
          std::min(static_cast<std::int64_t>(prefix.size()), whole_blocks(draw.context_tokens));
      draw.blocks.assign(prefix.begin(), prefix.begin() + shared);
    }
    ids_.add_fresh(draw.blocks,
                   all_blocks(draw.context_tokens) - static_cast<std::int64_t>(draw.blocks.size()));
    return draw;
  }

 private:
  const std::vector<std::uint64_t>& drawn_prefix() {
    std::vector<std::uint64_t>& prefix =
        prefixes_[static_cast<std::size_t>(shares_.below(prefixes_.size()))];
    if (prefix.empty()) ids_.add_fresh(prefix, whole_blocks(contexts_.shared_tokens));
    return prefix;
  }

  IndependentContexts contexts_;
  TokenCountRange range_;
  bool with_blocks_;
  RandomStream lengths_, shares_;
  BlockIds ids_;
  std::vector<std::vector<std::uint64_t>> prefixes_;  // made when first drawn
};

// Turns of conversations.
class ChatDraws {
 public:
  ChatDraws(const Scenario& s, std::uint64_t replicate)
      : chat_(std::get<ChatContexts>(s.workload.contexts)),
        with_blocks_(s.workload.prefix_cache.has_value()),
        sessions_(static_cast<std::size_t>(chat_.concurrent)),
        lengths_(s.seed, "context-tokens", replicate),
        turns_(s.seed, "sessions", replicate) {}

  RequestDraw operator()() {
    Session& session = sessions_[static_cast<std::size_t>(turns_.below(sessions_.size()))];
    if (session.turns_left == 0) {
      session = {.number = next_session_++,
                 .turns_left = draw_count(chat_.turns, turns_),
                 .tokens = draw_count(chat_.first_tokens, lengths_),
                 .blocks = {}};
    } else {
      session.tokens += draw_count(chat_.turn_tokens, lengths_);
    }
    --session.turns_left;
    if (with_blocks_) {
      session.blocks.resize(
          std::min(session.blocks.size(), static_cast<std::size_t>(session.whole_blocks_before)));
      ids_.add_fresh(session.blocks,
                     all_blocks(session.tokens) - static_cast<std::int64_t>(session.blocks.size()));
      session.whole_blocks_before = whole_blocks(session.tokens);
    }
    return {.context_tokens = session.tokens, .blocks = session.blocks, .session = session.number};
  }

 private:
  struct Session {
    std::uint64_t number = 0;
    std::int64_t turns_left = 0;
    std::int64_t tokens = 0;
    std::vector<std::uint64_t> blocks;
    std::int64_t whole_blocks_before = 0;  // a last block that was not full changes when it grows
  };

  ChatContexts chat_;
  bool with_blocks_;
  std::vector<Session> sessions_;
  RandomStream lengths_, turns_;
  std::uint64_t next_session_ = 0;
  BlockIds ids_;
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
  std::function<RequestDraw()> draw;
  if (std::holds_alternative<ChatContexts>(w.contexts)) {
    draw = ChatDraws(s, replicate);
  } else {
    draw = IndependentDraws(s, replicate);
  }
  source.next = [draw = std::move(draw), left = warm_up]() mutable {
    RequestDraw next = draw();
    next.is_load = left-- <= 0;
    return next;
  };
  return source;
}

}  // namespace sluice
