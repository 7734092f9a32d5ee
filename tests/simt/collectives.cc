#include "tests/simt/collectives.h"

#include <algorithm>
#include <bit>

namespace sluice::simt {
namespace {

// Values of the lanes in the request's mask, folded.
template <typename Fold>
std::uint64_t fold_lanes(std::span<const WarpRequest> warp, std::uint32_t mask, Fold fold) {
  std::uint64_t result = 0;
  bool is_first = true;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    if ((mask >> lane & 1U) == 0) continue;
    result = is_first ? warp[lane].value : fold(result, warp[lane].value);
    is_first = false;
  }
  return result;
}

// The lanes of the mask whose value fulfils `condition`, as bits.
template <typename Condition>
std::uint32_t lanes_where(std::span<const WarpRequest> warp, std::uint32_t mask,
                          Condition condition) {
  std::uint32_t bits = 0;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    if ((mask >> lane & 1U) != 0 && condition(warp[lane].value)) bits |= 1U << lane;
  }
  return bits;
}

}  // namespace

std::uint64_t answer_of(std::span<const WarpRequest> warp, const WarpRequest& request) {
  const std::uint32_t mask = request.mask;
  const auto ballot = [&] { return lanes_where(warp, mask, [](auto v) { return v != 0; }); };
  switch (request.kind) {
    case Collective::kSyncWarp:
      return 0;
    case Collective::kShuffle:
      return warp[request.source_lane].value;
    case Collective::kBallot:
      return ballot();
    case Collective::kAny:
      return ballot() != 0 ? 1 : 0;
    case Collective::kAll:
      return ballot() == mask ? 1 : 0;
    case Collective::kReduceAdd:
      return fold_lanes(warp, mask, [](auto a, auto b) { return a + b; });
    case Collective::kReduceMax:
      return fold_lanes(warp, mask, [](auto a, auto b) { return std::max(a, b); });
    case Collective::kReduceMin:
      return fold_lanes(warp, mask, [](auto a, auto b) { return std::min(a, b); });
    case Collective::kMatchAny:
      return lanes_where(warp, mask, [&](auto v) { return v == request.value; });
  }
  return 0;
}

std::uint64_t put_wrong(Collective kind, std::uint64_t answer) {
  if (kind == Collective::kAny || kind == Collective::kAll) return answer ^ 1;
  if (kind == Collective::kShuffle) return answer;
  return std::rotl(static_cast<std::uint32_t>(answer), 1);
}

}  // namespace sluice::simt
