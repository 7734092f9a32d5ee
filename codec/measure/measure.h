// Measures codecs on a captured cache: bytes, times and damage of every level, chunk by chunk.
// Where in the flow: behind `codec profile`; the result is a CodecProfile that sessions read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/capture_format.h"
#include "codec/profile.h"
#include "codec/registry.h"

namespace sluice {

struct MeasureOptions {
  std::int64_t chunk_tokens = 1500;  // > 0; the capture is coded in pieces of that many tokens
  int repeats = 5;                   // of every timing; the median counts
  std::vector<CodecLevel> levels;
  std::shared_ptr<const ModelProfile> model_profile;  // for codecs that use one; null: none
  // Codes the tokens by the attention of the capture's own queries, where it holds any.
  bool uses_importance = true;
};

// Fills levels (least damage first), chunk_tokens, damage_measure and device of a profile; the rest
// is the caller's. `progress` is told each level's name before it is measured.
[[nodiscard]] Result<CodecProfile> measure_codecs(
    const Capture& capture, const MeasureOptions& options,
    const std::function<void(const std::string&)>& progress);

// The CPU's model name, as the kernel tells it.
[[nodiscard]] std::string cpu_name();

}  // namespace sluice
