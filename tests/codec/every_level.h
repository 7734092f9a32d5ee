// Every level of every registered codec, for contract tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/registry.h"
#include "tests/test_name.h"

namespace sluice {

[[nodiscard]] inline std::vector<CodecLevel> every_level() {
  std::vector<CodecLevel> levels;
  for (const Codec& codec : all_codecs()) {
    for (std::size_t level = 0; level < codec.info.levels.size(); ++level)
      levels.push_back({&codec, level});
  }
  return levels;
}

[[nodiscard]] inline std::string level_name(const testing::TestParamInfo<CodecLevel>& info) {
  return test_name(info.param.id());
}

}  // namespace sluice
