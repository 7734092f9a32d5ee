#include "codec/row_convert.h"

#include <algorithm>
#include <cstring>

#include "codec/codable.h"
#include "codec/float16.h"
#include "codec/row_convert_avx2.h"

namespace sluice {
namespace {

template <float (*convert)(std::uint16_t)>
void widen(const std::byte* row, std::int64_t num_elems, float* values) {
  for (std::int64_t i = 0; i < num_elems; ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, row + i * static_cast<std::int64_t>(sizeof bits), sizeof bits);
    values[i] = convert(bits);
  }
}

template <std::uint16_t (*convert)(float)>
void narrow(const float* values, std::int64_t num_elems, std::byte* row) {
  for (std::int64_t i = 0; i < num_elems; ++i) {
    const std::uint16_t bits = convert(values[i]);
    std::memcpy(row + i * static_cast<std::int64_t>(sizeof bits), &bits, sizeof bits);
  }
}

void copy_to_fp32(const std::byte* row, std::int64_t num_elems, float* values) {
  std::memcpy(values, row, static_cast<std::size_t>(num_elems) * sizeof(float));
}

void copy_from_fp32(const float* values, std::int64_t num_elems, std::byte* row) {
  std::memcpy(row, values, static_cast<std::size_t>(num_elems) * sizeof(float));
}

}  // namespace

RowConvert row_convert(Dtype dtype, Backend backend) {
  if (dtype == Dtype::kFp32) return {copy_to_fp32, copy_from_fp32};
  const bool is_fp16 = dtype == Dtype::kFp16;
#if SLUICE_AVX2
  if (backend == Backend::kAvx2) {
    return is_fp16 ? RowConvert{avx2::fp16_to_fp32, avx2::fp32_to_fp16}
                   : RowConvert{avx2::bf16_to_fp32, avx2::fp32_to_bf16};
  }
#endif
  (void)backend;  // where AVX2 is not compiled in
  return is_fp16 ? RowConvert{widen<fp16_to_fp32>, narrow<fp32_to_fp16>}
                 : RowConvert{widen<bf16_to_fp32>, narrow<fp32_to_bf16>};
}

void make_codable(std::span<float> values, Backend backend) {
#if SLUICE_AVX2
  if (backend == Backend::kAvx2)
    return avx2::make_codable(values.data(), static_cast<std::int64_t>(values.size()));
#endif
  (void)backend;
  std::transform(values.begin(), values.end(), values.begin(), codable);
}

}  // namespace sluice
