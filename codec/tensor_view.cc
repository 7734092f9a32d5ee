#include "codec/tensor_view.h"

#include <bit>
#include <cstring>

#include "base/assert.h"
#include "codec/float16.h"
#include "codec/row_convert.h"

namespace sluice {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian and are viewed in place");

namespace {

template <Dtype dtype>
float load(const std::byte* address) {
  if constexpr (dtype == Dtype::kFp32) {
    float value;
    std::memcpy(&value, address, sizeof value);
    return value;
  } else {
    std::uint16_t bits;
    std::memcpy(&bits, address, sizeof bits);
    return dtype == Dtype::kFp16 ? fp16_to_fp32(bits) : bf16_to_fp32(bits);
  }
}

template <Dtype dtype>
void store(std::byte* address, float value) {
  if constexpr (dtype == Dtype::kFp32) {
    std::memcpy(address, &value, sizeof value);
  } else {
    const std::uint16_t bits = dtype == Dtype::kFp16 ? fp32_to_fp16(value) : fp32_to_bf16(value);
    std::memcpy(address, &bits, sizeof bits);
  }
}

// function.operator()<dtype>(): the choice is made once, outside the loops.
template <typename Function>
auto with_dtype(Dtype dtype, Function function) {
  if (dtype == Dtype::kFp16) return function.template operator()<Dtype::kFp16>();
  if (dtype == Dtype::kBf16) return function.template operator()<Dtype::kBf16>();
  return function.template operator()<Dtype::kFp32>();
}

std::int64_t byte_offset(const TensorShape& shape, const Strides& strides, std::int64_t head,
                         std::int64_t token, std::int64_t dim) {
  return (head * strides.head + token * strides.token + dim * strides.dim) *
         bytes_per_element(shape.dtype);
}

// row(first channel, byte offset) over the heads of one token, in order.
template <typename Row>
void for_each_head(const TensorShape& shape, const Strides& strides, std::int64_t token, Row row) {
  for (std::int64_t head = 0; head < shape.heads; ++head)
    row(head * shape.dim, byte_offset(shape, strides, head, token, 0));
}

}  // namespace

std::string_view to_text(Dtype dtype) {
  return dtype == Dtype::kFp16 ? "fp16" : dtype == Dtype::kBf16 ? "bf16" : "fp32";
}

Strides head_major(const TensorShape& shape) {
  if (shape.elements() == 0) return {};  // the products below may pass int64 when a count is 0
  return {.head = shape.tokens * shape.dim, .token = shape.dim, .dim = 1};
}

Strides token_major(const TensorShape& shape) {
  if (shape.elements() == 0) return {};
  return {.head = shape.dim, .token = shape.heads * shape.dim, .dim = 1};
}

float TensorView::at(std::int64_t head, std::int64_t token, std::int64_t dim) const {
  const std::byte* address = data + byte_offset(shape, strides, head, token, dim);
  return with_dtype(shape.dtype, [&]<Dtype dtype>() { return load<dtype>(address); });
}

void TensorView::read_token(std::int64_t token, std::span<float> out, Backend backend) const {
  SLUICE_ASSERT(static_cast<std::int64_t>(out.size()) == shape.channels(),
                "read_token: wrong buffer size");
  if (strides.dim == 1) {
    const auto to_fp32 = row_convert(shape.dtype, backend).to_fp32;
    return for_each_head(shape, strides, token, [&](std::int64_t channel, std::int64_t offset) {
      to_fp32(data + offset, shape.dim, out.data() + channel);
    });
  }
  const std::int64_t step = strides.dim * bytes_per_element(shape.dtype);
  with_dtype(shape.dtype, [&]<Dtype dtype>() {
    for_each_head(shape, strides, token, [&](std::int64_t channel, std::int64_t offset) {
      for (std::int64_t dim = 0; dim < shape.dim; ++dim)
        out[static_cast<std::size_t>(channel + dim)] = load<dtype>(data + offset + dim * step);
    });
  });
}

TensorView TensorView::slice(std::int64_t begin, std::int64_t tokens) const {
  SLUICE_ASSERT(begin >= 0 && tokens >= 0 && begin <= shape.tokens - tokens,
                "slice: outside the tensor");
  TensorView part = *this;
  part.shape.tokens = tokens;
  if (tokens > 0) part.data += byte_offset(shape, strides, 0, begin, 0);
  return part;
}

void MutableTensorView::set(std::int64_t head, std::int64_t token, std::int64_t dim,
                            float value) const {
  std::byte* address = data + byte_offset(shape, strides, head, token, dim);
  with_dtype(shape.dtype, [&]<Dtype dtype>() { store<dtype>(address, value); });
}

void MutableTensorView::write_token(std::int64_t token, std::span<const float> channels,
                                    Backend backend) const {
  SLUICE_ASSERT(static_cast<std::int64_t>(channels.size()) == shape.channels(),
                "write_token: wrong buffer size");
  if (strides.dim == 1) {
    const auto from_fp32 = row_convert(shape.dtype, backend).from_fp32;
    return for_each_head(shape, strides, token, [&](std::int64_t channel, std::int64_t offset) {
      from_fp32(channels.data() + channel, shape.dim, data + offset);
    });
  }
  const std::int64_t step = strides.dim * bytes_per_element(shape.dtype);
  with_dtype(shape.dtype, [&]<Dtype dtype>() {
    for_each_head(shape, strides, token, [&](std::int64_t channel, std::int64_t offset) {
      for (std::int64_t dim = 0; dim < shape.dim; ++dim)
        store<dtype>(data + offset + dim * step, channels[static_cast<std::size_t>(channel + dim)]);
    });
  });
}

}  // namespace sluice
