// __nv_bfloat16 for the host SIMT layer: the conversions that kernels use, by codec/float16.h.
#pragma once

#include "codec/float16.h"

struct __nv_bfloat16 {
  unsigned short bits;
};
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return {bits};
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) {
  return value.bits;
}
inline float __bfloat162float(__nv_bfloat16 value) {
  return sluice::bf16_to_fp32(value.bits);
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return {sluice::fp32_to_bf16(value)};
}
