#include "tests/device/device_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "base/random.h"

namespace sluice {
namespace {

void expect_ok(const Status& status) {
  ASSERT_TRUE(status) << status.error().to_line();
}

DeviceBuffer buffer_of(std::size_t bytes) {
  auto buffer = make_device_buffer(bytes);
  EXPECT_TRUE(buffer) << buffer.error().to_line();
  return buffer ? std::move(*buffer) : DeviceBuffer();
}

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, StreamHandle stream) {
  expect_ok(check_cuda(cudaMemcpyAsync(to, from, bytes, kind, stream), "copying"));
  expect_ok(check_cuda(cudaStreamSynchronize(stream), "copying"));
}

Strides dim_strided(const TensorShape& shape) {
  return {.head = 1, .token = shape.heads, .dim = shape.heads * shape.tokens};
}

bool is_paged(DeviceLayout layout) {
  return layout == DeviceLayout::kPagedTokenMajor || layout == DeviceLayout::kPagedHeadMajor;
}

// function(head, token, dim, index in [head, token, dim])
template <typename Function>
void for_each_element(const TensorShape& shape, Function function) {
  std::int64_t index = 0;
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      for (std::int64_t dim = 0; dim < shape.dim; ++dim) function(head, token, dim, index++);
    }
  }
}

}  // namespace

std::string to_text(DeviceLayout layout) {
  switch (layout) {
    case DeviceLayout::kHeadMajor:
      return "head-major";
    case DeviceLayout::kTokenMajor:
      return "token-major";
    case DeviceLayout::kDimStrided:
      return "dim-strided";
    case DeviceLayout::kPagedTokenMajor:
      return "paged, token-major";
    case DeviceLayout::kPagedHeadMajor:
      return "paged, head-major";
  }
  return "unknown";
}

DeviceSection::DeviceSection(std::span<const SectionTensor> tensors, DeviceLayout layout) {
  RandomStream random(11);
  for (const SectionTensor& tensor : tensors) {
    const TensorShape& shape = tensor.values.shape;
    Image image;
    DeviceTensor values;
    if (is_paged(layout)) {
      const bool token_major_blocks = layout == DeviceLayout::kPagedTokenMajor;
      const std::int64_t block_tokens = token_major_blocks ? 16 : 7;
      const std::int64_t first_slot = token_major_blocks ? 5 : 0;
      const auto num_blocks =
          static_cast<std::size_t>((first_slot + shape.tokens + block_tokens - 1) / block_tokens);
      image.blocks.resize(num_blocks);
      std::iota(image.blocks.begin(), image.blocks.end(), 0);
      for (std::size_t i = num_blocks; i > 1; --i)
        std::swap(image.blocks[i - 1], image.blocks[random.below(i)]);
      image.block_table = buffer_of(num_blocks * sizeof(std::int32_t));
      image.bytes = num_blocks * static_cast<std::size_t>(block_tokens * shape.channels() *
                                                          bytes_per_element(shape.dtype));
      image.memory = buffer_of(image.bytes);
      copy(image.block_table.data(), image.blocks.data(), num_blocks * sizeof(std::int32_t),
           cudaMemcpyHostToDevice, nullptr);
      values = paged_tensor(
          shape, image.memory.data(),
          reinterpret_cast<const std::int32_t*>(image.block_table.data()), block_tokens,
          token_major_blocks ? BlockOrder::kTokenHeadDim : BlockOrder::kHeadTokenDim);
      values.first_slot = first_slot;
    } else {
      image.bytes = static_cast<std::size_t>(shape.size().bytes());
      image.memory = buffer_of(image.bytes);
      const Strides strides = layout == DeviceLayout::kHeadMajor    ? head_major(shape)
                              : layout == DeviceLayout::kTokenMajor ? token_major(shape)
                                                                    : dim_strided(shape);
      values = contiguous_tensor(shape, image.memory.data(), strides);
    }
    tensors_.push_back({.layer = tensor.layer,
                        .first_token = tensor.first_token,
                        .rope = tensor.rope,
                        .values = values,
                        .kind = tensor.kind,
                        .positions = tensor.positions});
    images_.push_back(std::move(image));
  }
}

DeviceTensor DeviceSection::on_host(std::size_t index, std::vector<std::byte>& host) const {
  DeviceTensor tensor = tensors_[index].values;
  tensor.data_dev = host.data();
  if (tensor.block_table_dev != nullptr) tensor.block_table_dev = images_[index].blocks.data();
  return tensor;
}

void DeviceSection::write(std::span<const SectionTensor> tensors, StreamHandle stream) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::vector<std::byte> host(images_[i].bytes);
    const DeviceTensor to = on_host(i, host);
    const TensorView& from = tensors[i].values;
    const std::int64_t width = bytes_per_element(from.shape.dtype);
    for_each_element(from.shape, [&](auto head, auto token, auto dim, auto) {
      const std::int64_t element =
          head * from.strides.head + token * from.strides.token + dim * from.strides.dim;
      std::memcpy(to.data_dev + to.offset(head, token, dim) * width, from.data + element * width,
                  static_cast<std::size_t>(width));
    });
    copy(images_[i].memory.data(), host.data(), host.size(), cudaMemcpyHostToDevice, stream);
  }
}

std::vector<std::byte> DeviceSection::read(std::size_t index, StreamHandle stream) const {
  std::vector<std::byte> host(images_[index].bytes);
  copy(host.data(), images_[index].memory.data(), host.size(), cudaMemcpyDeviceToHost, stream);
  const DeviceTensor from = on_host(index, host);
  const std::int64_t width = bytes_per_element(from.shape.dtype);
  std::vector<std::byte> elements(static_cast<std::size_t>(from.shape.size().bytes()));
  for_each_element(from.shape, [&](auto head, auto token, auto dim, auto i) {
    std::memcpy(elements.data() + i * width, from.data_dev + from.offset(head, token, dim) * width,
                static_cast<std::size_t>(width));
  });
  return elements;
}

}  // namespace sluice
