// Builds observations whose numbers can be checked by head: chunks of 1 s at 1 Mbit/s on the finest
// of three levels.
#pragma once

#include <vector>

#include "policies/policy.h"

namespace sluice {

class ObservationBuilder {
 public:
  // Levels fine/middle/coarse of 125 kB, 62.5 kB and 31.25 kB per chunk: 1 s, 0.5 s and 0.25 s at 1
  // Mbit/s.
  explicit ObservationBuilder(std::size_t num_chunks) {
    levels_ = {{.id = "cachegen-released@3",
                .codec = "cachegen-released",
                .level = "3",
                .damage = 0.01,
                .refines = {}},
               {.id = "cachegen-released@2",
                .codec = "cachegen-released",
                .level = "2",
                .damage = 0.02,
                .refines = {}},
               {.id = "cachegen-released@1",
                .codec = "cachegen-released",
                .level = "1",
                .damage = 0.03,
                .refines = {}}};
    costs_ = {{.size = DataSize::bytes(125'000)},
              {.size = DataSize::bytes(62'500)},
              {.size = DataSize::bytes(31'250)}};
    for (std::size_t i = 0; i < num_chunks; ++i) {
      chunks_.push_back({.index = static_cast<std::int32_t>(i),
                         .tokens = 1500,
                         .level = {},
                         .fetching = {},
                         .levels = costs_,
                         .recompute_time = std::chrono::seconds{10},
                         .text_size = {}});
    }
  }

  ObservationBuilder& slo(Duration slo) {
    slo_ = slo;
    return *this;
  }
  ObservationBuilder& now(Duration since_arrival) {
    now_ = kRunStart + since_arrival;
    return *this;
  }
  ObservationBuilder& recompute_time(std::optional<Duration> time) {
    for (ChunkView& c : chunks_) c.recompute_time = time;
    return *this;
  }
  ObservationBuilder& gpu_wait(Duration wait) {
    gpu_wait_ = wait;
    return *this;
  }
  ObservationBuilder& phase(std::size_t chunk, ChunkPhase phase) {
    chunks_[chunk].phase = phase;
    if (phase == ChunkPhase::kComing) {
      chunks_[chunk].fetching = 0;
      ++in_flight_;
    }
    return *this;
  }
  ObservationBuilder& decode_times(Duration fine, Duration middle, Duration coarse) {
    costs_[0].decode_time = fine;
    costs_[1].decode_time = middle;
    costs_[2].decode_time = coarse;
    return *this;
  }
  ObservationBuilder& measured(DataRate rate) {
    past_.push_back({.chunk = 0,
                     .level = 1,
                     .size = DataSize::bytes(62'500),
                     .time = std::chrono::milliseconds{500},
                     .first_byte_time = {},
                     .rate = rate});
    return *this;
  }
  ObservationBuilder& foresees(DataRate rate) {
    foresight_ = Foresight{rate};
    return *this;
  }
  ObservationBuilder& last_chunk_tokens(std::int64_t tokens) {
    chunks_.back().tokens = tokens;
    return *this;
  }

  [[nodiscard]] Observation build() const {
    return {.now = now_,
            .arrived_at = kRunStart,
            .deadline = kRunStart + slo_,
            .levels = levels_,
            .chunks = chunks_,
            .past = past_,
            .transfers_in_flight = in_flight_,
            .round_trip = {},
            .gpu_wait = gpu_wait_,
            .gpu_busy_fraction = 0,
            .first_token_time = {},
            .foresight = foresight_};
  }
  [[nodiscard]] std::span<const LevelInfo> levels() const { return levels_; }

 private:
  std::vector<LevelInfo> levels_;
  std::vector<LevelCost> costs_;
  std::vector<ChunkView> chunks_;
  std::vector<PastTransfer> past_;
  Duration slo_ = std::chrono::seconds{4};
  Instant now_ = kRunStart;
  Duration gpu_wait_{};
  std::int32_t in_flight_ = 0;
  std::optional<Foresight> foresight_;
};

}  // namespace sluice
