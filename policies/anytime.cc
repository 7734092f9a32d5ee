#include "policies/anytime.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse.h"
#include "policies/choose.h"
#include "policies/delivery_rate.h"
#include "policies/layers.h"
#include "policies/outlook.h"

namespace sluice {
namespace {

constexpr std::int32_t kInFlightMin = 2;  // so that no round trip passes without bytes
constexpr std::int32_t kInFlightMax = 16;
// Of a chunk of which more is asked for: after a refusal the session takes no second request.
constexpr std::int32_t kFailuresMax = 0;
constexpr int kOpeningRoundTrips = 10, kOpeningGrowth = 4;
constexpr DataRate kSlowestRate = DataRate::bits_per_sec(1000);

struct Settings {
  Duration margin{};
  double quantile = 0;
  bool fills_gpu = false;
};

// More digits of a chunk.
struct Candidate {
  std::int32_t chunk = 0, level = 0;
  DataSize size;               // to travel
  Duration decode_more{};      // than at the level that is here
  Duration decode_time{};      // at the new one
  double damage_per_byte = 0;  // removed, weighted by tokens
};

class Anytime final : public Policy {
 public:
  explicit Anytime(const Settings& settings) : settings_(settings) {}

  Decision decide(const Observation& o) override {
    if (!layers_) layers_.emplace(o.levels, o.chunks.front().levels);
    rate_.note(o);
    const Outlook ahead = look_ahead(o, layers_->base(), settings_.margin);
    for (const auto step : {&Anytime::ask_for_bases, &Anytime::decode_complete, &Anytime::rescue,
                            &Anytime::fill_gpu, &Anytime::close, &Anytime::refine}) {
      Decision decision = (this->*step)(o, ahead);
      if (!decision.actions.empty()) return decision;
    }
    return wait_for_more(o, ahead);
  }

 private:
  static const LevelCost& cost(const ChunkView& chunk, std::int32_t level) {
    return chunk.levels[static_cast<std::size_t>(level)];
  }
  // Nobody recomputes it either.
  static bool may_decode(const ChunkView& chunk) {
    return chunk.held && chunk.level && !chunk.recomputing;
  }

  // From the last chunk to the first, since a recompute begins at the first.
  Decision ask_for_bases(const Observation& o, const Outlook& /*ahead*/) {
    Decision decision{{}, "the base of every chunk first"};
    for (auto chunk = o.chunks.rbegin(); chunk != o.chunks.rend(); ++chunk) {
      if (chunk->phase != ChunkPhase::kAbsent) continue;
      decision.actions.push_back(
          Fetch{.chunk = chunk->index, .level = layers_->base(), .decode = DecodeWhen::kWhenAsked});
    }
    return decision;
  }

  Decision decode_complete(const Observation& o, const Outlook& /*ahead*/) {
    Decision decision{{}, "nothing finer is to come"};
    for (const ChunkView& chunk : o.chunks) {
      if (may_decode(chunk) && layers_->above(*chunk.level).empty())
        decision.actions.push_back(Decode{chunk.index});
    }
    return decision;
  }

  // Recomputes what has not come: at the last instant at which that is in time, or late where it is
  // the faster way.
  Decision rescue(const Observation& o, const Outlook& ahead) {
    Decision decision{{}, "the bases do not come in time: recomputed"};
    if (ahead.num_missing == 0 || !ahead.missing_recompute) return decision;
    const Instant recomputed = recomputed_at(o, ahead);
    const bool last_chance =
        recomputed >= ahead.end_by && recomputed <= ahead.end_by + settings_.margin;
    const std::optional<Instant> bases = bases_at(o, ahead);
    const bool comes_in_time = bases && *bases <= ahead.end_by;
    const bool faster = is_late(o, ahead) && (bases ? recomputed < *bases : !is_opening(o));
    if (!(last_chance && !comes_in_time) && !faster) return decision;
    for (const ChunkView& chunk : o.chunks) {
      if (chunk.level || chunk.recomputing || chunk.phase == ChunkPhase::kResident) continue;
      if (chunk.failures > kFailuresMax && chunk.fetching) continue;  // its text may not come
      if (chunk.fetching && chunk.text_size > DataSize::zero())
        decision.actions.push_back(Cancel{chunk.index});  // else the base may still come first
      decision.actions.push_back(Recompute{chunk.index});
    }
    return decision;
  }

  [[nodiscard]] static Instant recomputed_at(const Observation& o, const Outlook& ahead) {
    return o.now + o.gpu_wait + ahead.unqueued - ahead.missing_decode + *ahead.missing_recompute;
  }

  // Whatever comes now comes too late.
  [[nodiscard]] bool is_late(const Observation& o, const Outlook& ahead) const {
    return o.now + cost(o.chunks.front(), layers_->base()).decode_time >
           ahead.end_by + settings_.margin;
  }

  // Windows of connections open, and what has come says little of what will.
  [[nodiscard]] static bool is_opening(const Observation& o) {
    return o.now - o.arrived_at < kOpeningRoundTrips * o.round_trip;
  }

  // When the last base is decoded, by the rate of what has come. While the window opens, the rate
  // is what the fastest so far may grow to; with no byte here the bases count as not coming.
  [[nodiscard]] std::optional<Instant> bases_at(const Observation& o, const Outlook& ahead) const {
    const bool opening = is_opening(o);
    const std::optional<DataRate> rate = rate_.quantile(opening ? 1 : settings_.quantile);
    if (!rate || *rate < kSlowestRate) return std::nullopt;
    const Duration transfer = ahead.missing_left / *rate / (opening ? kOpeningGrowth : 1);
    return o.now + transfer + cost(o.chunks.front(), layers_->base()).decode_time;
  }

  // Recomputes from the front while the GPU would be idle until the first decode is due.
  Decision fill_gpu(const Observation& o, const Outlook& ahead) {
    Decision decision{{}, "the GPU is idle for long enough to recompute it"};
    if (!settings_.fills_gpu || o.gpu_wait > Duration::zero()) return decision;
    for (const ChunkView& chunk : o.chunks) {
      if (chunk.phase == ChunkPhase::kResident) continue;
      if (chunk.recomputing || !chunk.recompute_time || chunk.failures > kFailuresMax) break;
      if (chunk.fetching && chunk.text_size > DataSize::zero()) break;
      const std::int32_t level = chunk.fetching.value_or(chunk.level.value_or(layers_->base()));
      const Duration others = ahead.unqueued - cost(chunk, level).decode_time;
      if (o.now + *chunk.recompute_time + others > ahead.end_by) break;
      decision.actions.push_back(Recompute{chunk.index});
      break;
    }
    return decision;
  }

  // When the first decode is due: one after the other, the most refined chunk first, so that the
  // others may still get digits. All at once where others wait for the GPU too.
  Decision close(const Observation& o, const Outlook& ahead) {
    Decision decision{{}, "time to decode"};
    if (!ahead.is_due(o) || ahead.gpu_is_ours(o)) return decision;
    const ChunkView* best = nullptr;
    for (const ChunkView& chunk : o.chunks) {
      const bool decodable = is_late(o, ahead) ? chunk.held : may_decode(chunk);
      if (decodable && (best == nullptr || goes_first(chunk, *best))) best = &chunk;
    }
    if (best == nullptr) return decision;
    if (best->fetching) decision.actions.push_back(Cancel{best->index});
    decision.actions.push_back(Decode{best->index});
    return decision;
  }

  // Of digits in flight those come first that have begun to come.
  static bool goes_first(const ChunkView& a, const ChunkView& b) {
    if (a.fetching.has_value() != b.fetching.has_value()) return !a.fetching;
    if (a.fetched != b.fetched) return a.fetched < b.fetched;
    return *a.level < *b.level;  // levels are ordered by damage
  }

  // The digits that remove most damage per byte, while a fast estimate says that they come in time:
  // one that does not costs bytes and nothing else.
  Decision refine(const Observation& o, const Outlook& ahead) {
    if (is_enough_in_flight(o, ahead)) return {{}, ""};
    std::optional<Candidate> best;
    for (auto chunk = o.chunks.rbegin(); chunk != o.chunks.rend(); ++chunk) {
      if (!may_decode(*chunk) || chunk->fetching || chunk->failures > kFailuresMax) continue;
      for (const std::int32_t level : layers_->above(*chunk->level)) {
        const Candidate candidate = more_of(o, *chunk, level);
        if (best && candidate.damage_per_byte <= best->damage_per_byte) continue;
        if (comes_in_time(o, ahead, candidate)) best = candidate;
      }
    }
    if (!best) return finish(o, ahead);
    return {{Fetch{.chunk = best->chunk, .level = best->level, .decode = DecodeWhen::kWhenAsked}},
            "most damage removed per byte"};
  }

  static Candidate more_of(const Observation& o, const ChunkView& chunk, std::int32_t level) {
    const LevelCost &here = cost(chunk, *chunk.level), &there = cost(chunk, level);
    const double removed = o.levels[static_cast<std::size_t>(*chunk.level)].damage -
                           o.levels[static_cast<std::size_t>(level)].damage;
    const DataSize size = std::max(there.size - here.size, DataSize::bytes(1));
    return {.chunk = chunk.index,
            .level = level,
            .size = size,
            .decode_more = there.decode_time - here.decode_time,
            .decode_time = there.decode_time,
            .damage_per_byte =
                removed * static_cast<double>(chunk.tokens) / static_cast<double>(size.bytes())};
  }

  [[nodiscard]] bool is_enough_in_flight(const Observation& o, const Outlook& ahead) const {
    if (o.transfers_in_flight < kInFlightMin) return false;
    if (o.transfers_in_flight >= kInFlightMax) return true;
    const std::optional<DataRate> fastest = rate_.quantile(1);
    if (!fastest || *fastest < kSlowestRate) return true;
    return ahead.left_in_flight / *fastest >= 2 * o.round_trip;
  }

  [[nodiscard]] bool comes_in_time(const Observation& o, const Outlook& ahead,
                                   const Candidate& more) const {
    if (o.now + o.gpu_wait + ahead.unqueued + more.decode_more > ahead.end_by) return false;
    const std::optional<DataRate> rate = rate_.quantile(1 - settings_.quantile);
    if (!rate) return true;
    const DataRate assumed = std::max(*rate, kSlowestRate);
    // A round trip passes behind what is already under way.
    const Duration until_first_byte = std::max(ahead.left_in_flight / assumed, o.round_trip);
    return o.now + until_first_byte + more.size / assumed + more.decode_time <= ahead.end_by;
  }

  // Nothing is under way and nothing more would come in time.
  static Decision finish(const Observation& o, const Outlook& ahead) {
    Decision decision{{}, "nothing more would come in time"};
    if (o.transfers_in_flight > 0 || ahead.recomputes || ahead.num_missing > 0) return decision;
    for (const ChunkView& chunk : o.chunks) {
      if (may_decode(chunk)) decision.actions.push_back(Decode{chunk.index});
    }
    return decision;
  }

  Decision wait_for_more(const Observation& o, const Outlook& ahead) const {
    std::optional<Instant> until;
    const auto wake = [&](Instant at) {
      if (at > o.now && (!until || at < *until)) until = at;
    };
    wake(ahead.end_by - ahead.unqueued - o.gpu_wait);
    if (ahead.num_missing > 0 && ahead.missing_recompute)
      wake(o.now + (ahead.end_by - recomputed_at(o, ahead)));
    return {{Wait{until}}, "until something comes, or it is time to decode"};
  }

  Settings settings_;
  std::optional<Layers> layers_;
  DeliveryRate rate_;
};

Result<Settings> read_settings(const PolicyParameters& parameters) {
  const auto margin = parse_duration(parameters.at("margin"), "anytime's margin");
  if (!margin) return margin.error();
  const auto quantile = parse_number(parameters.at("quantile"), "anytime's quantile");
  if (!quantile) return quantile.error();
  if (*margin < Duration::zero() || *quantile < 0 || *quantile > 0.5) {
    return error_in("--policy", "anytime: margin is negative, or quantile not within 0 and 0.5",
                    "write `anytime:margin=5ms,quantile=0.25`");
  }
  const std::string& recompute = parameters.at("recompute");
  if (recompute != "rescue" && recompute != "fill") {
    return error_in("--policy", fmt::format("anytime: recompute is `{}`", recompute),
                    "use `rescue` or `fill`");
  }
  return Settings{*margin, *quantile, recompute == "fill"};
}

Result<std::unique_ptr<Policy>> make(const PolicyParameters& parameters,
                                     std::span<const LevelInfo> /*levels*/) {
  const Result<Settings> settings = read_settings(parameters);
  if (!settings) return settings.error();
  return std::unique_ptr<Policy>(std::make_unique<Anytime>(*settings));
}

}  // namespace

PolicyEntry anytime_entry() {
  return {
      .id = "anytime",
      .version = 1,
      .summary = "bases of all chunks, then digits by damage removed per byte until the deadline",
      .clairvoyant = false,
      .parameters =
          {{"margin", "ends so long before the deadline", "5ms"},
           {"quantile",
            "of the latest delivery rates, at which bases must come in time not to be recomputed; "
            "digits "
            "are asked for at 1 - quantile",
            "0.25"},
           {"recompute",
            "`rescue`: only what does not come in time; `fill`: also from the front while the "
            "GPU would be idle",
            "rescue"}},
      .make = make};
}

}  // namespace sluice
