// How a layer's keys were rotated by their position (RoPE; Su et al., "RoFormer", 2021), as
// captures say it.
// Where in the flow: read from a capture's `rope` metadata, kept in containers, used by codecs that
// code keys pre-RoPE.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

// Which two dims one angle turns: (i, i + rotated/2), or (2i, 2i + 1).
enum class RopePairing : std::uint8_t { kUnknown, kHalf, kInterleaved };

struct RopeFacts {
  double theta = 0;
  std::int64_t rotated_dims = 0;  // per head; 0: this layer has no RoPE
  // Dims before it are not rotated (the compressed part of a latent).
  std::int64_t first_rotated_dim = 0;
  RopePairing pairing = RopePairing::kUnknown;
  double attention_factor = 1;  // a factor on the rotated dims
  // Radian per token of each pair, where scaling changes theta's own; else empty.
  std::vector<double> inv_freq;
  std::string scaling_json;  // the model's own words on scaling; empty: none
  bool operator==(const RopeFacts&) const = default;
};

// `json` is one object of the capture format (codec/capture_format.h). Errors name the field; no
// file.
[[nodiscard]] Result<RopeFacts> rope_from_json(const nlohmann::json& json);
[[nodiscard]] nlohmann::json rope_to_json(const RopeFacts& facts);

}  // namespace sluice
