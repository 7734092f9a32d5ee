// __half for the host SIMT layer: the conversions that kernels use, by codec/float16.h.
#pragma once

#include "codec/float16.h"

struct __half {
  unsigned short bits;
};
inline __half __ushort_as_half(unsigned short bits) {
  return {bits};
}
inline unsigned short __half_as_ushort(__half value) {
  return value.bits;
}
inline float __half2float(__half value) {
  return sluice::fp16_to_fp32(value.bits);
}
inline __half __float2half_rn(float value) {
  return {sluice::fp32_to_fp16(value)};
}
