#include "tests/codec/made_model_profile.h"

#include <fmt/format.h>

#include <stdexcept>

#include "codec/safetensors/safetensors.h"

namespace sluice {
namespace {

std::vector<std::int8_t> basis_of(const std::vector<std::int64_t>& widths) {
  std::vector<std::int8_t> numbers;
  for (const std::int64_t width : widths) {
    for (std::int64_t row = 0; row < width; ++row) {
      for (std::int64_t column = 0; column < width; ++column) {
        const std::int64_t above = column > row ? column + 1 : 0;
        numbers.push_back(static_cast<std::int8_t>(column == row ? 100 : above));
      }
    }
  }
  return numbers;
}

template <typename Number>
MadeTensor tensor_of(const std::string& name, const std::string& dtype,
                     const std::vector<Number>& numbers) {
  MadeTensor tensor{name, dtype, {static_cast<std::int64_t>(numbers.size())}, {}};
  tensor.set(numbers);
  return tensor;
}

}  // namespace

MadeTensor& MadeModelProfile::tensor(const std::string& name) {
  for (MadeTensor& candidate : tensors) {
    if (candidate.name == name) return candidate;
  }
  throw std::logic_error("no tensor " + name);
}

Status MadeModelProfile::write(const std::filesystem::path& file) const {
  std::vector<SafetensorsTensor> views;
  for (const MadeTensor& tensor : tensors) {
    views.push_back({.name = tensor.name,
                     .dtype = tensor.dtype,
                     .shape = tensor.shape,
                     .data = std::as_bytes(std::span(tensor.bytes))});
  }
  return write_safetensors(file, metadata, views);
}

MadeModelProfile made_model_profile(BasisBlock block) {
  constexpr std::int64_t kChannels = 7;
  MadeModelProfile made;
  made.metadata = {{"format", "sluice-model-profile-1"},
                   {"block", std::string(to_text(block))},
                   {"model", "a model"},
                   {"revision", "a revision"}};
  std::vector<float> means, scales;
  for (std::int64_t channel = 0; channel < kChannels; ++channel) {
    means.push_back(static_cast<float>(channel) + 0.5F);
    scales.push_back(static_cast<float>(channel) + 2.0F);
  }
  const std::vector<std::int64_t> widths = block == BasisBlock::kLayer
                                               ? std::vector<std::int64_t>{kChannels}
                                               : std::vector<std::int64_t>{2, 2, 3};
  for (const int layer : {0, 7}) {
    const auto name = [layer](const char* part) { return fmt::format("layer.{}.{}", layer, part); };
    made.tensors.push_back(tensor_of(name("shape"), "I32", std::vector<std::int32_t>{2, 2, 1, 3}));
    made.tensors.push_back(tensor_of(name("means"), "F32", means));
    made.tensors.push_back(tensor_of(name("scales"), "F32", scales));
    if (block != BasisBlock::kDiagonal)
      made.tensors.push_back(tensor_of(name("basis"), "I8", basis_of(widths)));
  }
  return made;
}

}  // namespace sluice
