// Turns of conversations that were going on long before the first load.
// Where in the flow: a kind of request of workload_draws.h.
// Surprise: what warms the cache is drawn backwards in time, from the turns that the open sessions
// have behind them, so that more or fewer of these requests leave the loads as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "sim/scenario/scenario.h"
#include "sim/serving/request_draw.h"

namespace sluice {

class ChatDraws {
 public:
  // `warm_up` requests that only fill the cache come before the loads.
  ChatDraws(const Scenario& scenario, std::uint64_t replicate, std::int64_t warm_up);
  RequestDraw operator()();

 private:
  struct Session {
    std::uint64_t number = 0;
    std::vector<std::int64_t> contexts;  // of its turns so far, in tokens
    std::int64_t turns_left = 0;
  };
  struct Turn {
    std::size_t slot = 0;  // one per concurrent session
    std::uint64_t session = 0;
    std::int64_t context_tokens = 0;
  };
  // What of a slot's session a cache can hold.
  struct Prefix {
    std::optional<std::uint64_t> session;
    std::vector<std::uint64_t> blocks;
    std::int64_t num_whole = 0;  // a last block that was not full changes when it grows
  };

  [[nodiscard]] Session open_session(std::uint64_t number, RandomStream& random) const;
  [[nodiscard]] std::vector<Turn> turns_before(std::int64_t count, RandomStream random) const;
  Turn next_turn();
  std::vector<std::uint64_t> blocks_of(const Turn& turn);

  ChatContexts chat_;
  bool with_blocks_;
  RandomStream lengths_, turns_;
  std::uint64_t next_session_;
  std::vector<Session> sessions_;  // by slot, as are the prefixes
  std::vector<Prefix> prefixes_;
  std::vector<Turn> warm_ups_;
  std::size_t num_warmed_ = 0;
  BlockIds ids_;
};

}  // namespace sluice
