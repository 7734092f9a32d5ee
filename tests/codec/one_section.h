// A section with one tensor, encoded and decoded without a container, for tests of a codec's own.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/registry.h"
#include "tests/codec/owned_tensor.h"

namespace sluice {

// "codec@level", or the codec's default level.
inline SectionContext section_context(const std::string& name, TensorKind kind) {
  return {.level = find_codec_level(name)->level, .kind = kind, .num_model_layers = 1};
}

inline std::vector<std::byte> encoded_section(const std::string& name, const TensorView& values,
                                              TensorKind kind = TensorKind::kKey) {
  const SectionTensor tensor{.values = values, .kind = kind};
  auto section = find_codec_level(name)->codec->encode_section(section_context(name, kind),
                                                               std::span(&tensor, 1));
  EXPECT_TRUE(section.ok()) << section.error().to_line();
  return section.ok() ? std::move(section->payload) : std::vector<std::byte>{};
}

inline Status decode_section_into(const std::string& name, std::span<const std::byte> payload,
                                  const MutableTensorView& values,
                                  TensorKind kind = TensorKind::kKey) {
  const MutableSectionTensor tensor{.values = values, .kind = kind};
  return find_codec_level(name)->codec->decode_section(section_context(name, kind), payload,
                                                       std::span(&tensor, 1));
}

inline std::vector<std::byte> to_bytes(const std::vector<int>& numbers) {
  std::vector<std::byte> bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

// fp32, one head.
inline OwnedTensor fp32_tensor(std::int64_t tokens, std::int64_t channels,
                               const std::vector<float>& values) {
  const TensorShape shape{.dtype = Dtype::kFp32, .heads = 1, .tokens = tokens, .dim = channels};
  return OwnedTensor(shape, [&](std::int64_t, std::int64_t token, std::int64_t dim) {
    return values[static_cast<std::size_t>(token * channels + dim)];
  });
}

inline std::vector<float> floats_of(const OwnedTensor& tensor) {
  const TensorView view = tensor.view();
  std::vector<float> values;
  for (std::int64_t token = 0; token < view.shape.tokens; ++token) {
    for (std::int64_t dim = 0; dim < view.shape.dim; ++dim)
      values.push_back(view.at(0, token, dim));
  }
  return values;
}

}  // namespace sluice
