// Small model profiles made by hand, as files that tests then spoil.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "codec/model_profile/model_profile.h"

namespace sluice {

struct MadeTensor {
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;

  template <typename Number>
  void set(const std::vector<Number>& numbers) {
    bytes.resize(numbers.size() * sizeof(Number));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
  }
};

struct MadeModelProfile {
  std::map<std::string, std::string> metadata;
  std::vector<MadeTensor> tensors;

  [[nodiscard]] MadeTensor& tensor(const std::string& name);
  [[nodiscard]] Status write(const std::filesystem::path& file) const;
};

// Layers 0 and 7, each with 2 key heads of 2 dims and a value head of 3. means[c] = c + 0.5,
// scales[c] = c + 2; blocks of a basis are 100 on the diagonal and c + 1 above it.
[[nodiscard]] MadeModelProfile made_model_profile(BasisBlock block);

}  // namespace sluice
