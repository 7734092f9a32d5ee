#include "sim/serving/chat_draws.h"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

// The contexts of a session's first `num_turns` turns.
std::vector<std::int64_t> draw_contexts(const ChatContexts& chat, std::int64_t num_turns,
                                        RandomStream& random) {
  std::vector<std::int64_t> contexts;
  for (std::int64_t turn = 0; turn < num_turns; ++turn) {
    contexts.push_back(turn == 0 ? draw_count(chat.first_tokens, random)
                                 : contexts.back() + draw_count(chat.turn_tokens, random));
  }
  return contexts;
}

}  // namespace

ChatDraws::ChatDraws(const Scenario& s, std::uint64_t replicate, std::int64_t warm_up)
    : chat_(std::get<ChatContexts>(s.workload.contexts)),
      with_blocks_(s.workload.prefix_cache.has_value()),
      lengths_(s.seed, "context-tokens", replicate),
      turns_(s.seed, "sessions", replicate),
      next_session_(static_cast<std::uint64_t>(chat_.concurrent)),
      prefixes_(static_cast<std::size_t>(chat_.concurrent)) {
  RandomStream open(s.seed, "open-sessions", replicate);
  for (std::uint64_t number = 0; number < next_session_; ++number)
    sessions_.push_back(open_session(number, open));
  warm_ups_ = turns_before(warm_up, RandomStream(s.seed, "warm-up-sessions", replicate));
}

// A session as somebody finds it who comes at any time: the longer it is, the likelier to be found
// (accepted by its turns), and with any number of them behind it.
ChatDraws::Session ChatDraws::open_session(std::uint64_t number, RandomStream& random) const {
  std::int64_t num_turns = 0;
  do {
    num_turns = draw_count(chat_.turns, random);
  } while (static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(chat_.turns.high))) >=
           num_turns);
  const auto behind =
      static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(num_turns)));
  return {.number = number,
          .contexts = draw_contexts(chat_, behind, random),
          .turns_left = num_turns - behind};
}

// The last `count` turns before the first load, in order of time. Before a session's first turn its
// slot had an older session, numbered from the top down.
std::vector<ChatDraws::Turn> ChatDraws::turns_before(std::int64_t count,
                                                     RandomStream random) const {
  std::vector<Turn> turns;
  if (count == 0) return turns;
  std::vector<Session> slots = sessions_;
  std::uint64_t older = std::numeric_limits<std::uint64_t>::max();
  for (; count > 0; --count) {
    const auto slot = static_cast<std::size_t>(random.below(slots.size()));
    Session& session = slots[slot];
    if (session.contexts.empty()) {
      session.number = older--;
      session.contexts = draw_contexts(chat_, draw_count(chat_.turns, random), random);
    }
    turns.push_back({slot, session.number, session.contexts.back()});
    session.contexts.pop_back();
  }
  std::reverse(turns.begin(), turns.end());
  return turns;
}

ChatDraws::Turn ChatDraws::next_turn() {
  const auto slot = static_cast<std::size_t>(turns_.below(sessions_.size()));
  Session& session = sessions_[slot];
  if (session.turns_left == 0) {
    session = {
        .number = next_session_++, .contexts = {}, .turns_left = draw_count(chat_.turns, turns_)};
  }
  const std::int64_t context =
      session.contexts.empty() ? draw_count(chat_.first_tokens, lengths_)
                               : session.contexts.back() + draw_count(chat_.turn_tokens, lengths_);
  session.contexts.assign(1, context);  // what is older is of no more use
  --session.turns_left;
  return {slot, session.number, context};
}

std::vector<std::uint64_t> ChatDraws::blocks_of(const Turn& turn) {
  Prefix& prefix = prefixes_[turn.slot];
  if (prefix.session != turn.session)
    prefix = {.session = turn.session, .blocks = {}, .num_whole = 0};
  prefix.blocks.resize(std::min(prefix.blocks.size(), static_cast<std::size_t>(prefix.num_whole)));
  ids_.add_fresh(prefix.blocks,
                 all_blocks(turn.context_tokens) - static_cast<std::int64_t>(prefix.blocks.size()));
  prefix.num_whole = whole_blocks(turn.context_tokens);
  return prefix.blocks;
}

RequestDraw ChatDraws::operator()() {
  const bool is_load = num_warmed_ == warm_ups_.size();
  const Turn turn = is_load ? next_turn() : warm_ups_[num_warmed_++];
  RequestDraw draw{.context_tokens = turn.context_tokens,
                   .blocks = {},
                   .session = turn.session,
                   .arrival = {},
                   .is_load = is_load};
  if (with_blocks_) draw.blocks = blocks_of(turn);
  return draw;
}

}  // namespace sluice
