// int8 on a GPU: the kernels of codec/uniform at 8 bits, and their entry in the registry.
#include "codec/int8/cuda.h"
#include "codec/int8/kernel.h"
#include "codec/uniform/cuda_codec.h"

namespace sluice {
namespace int8 {

struct CodeWidth {
  static constexpr int kBits = 8;
  static constexpr float kCodeMax = 127.0F;
  static constexpr const char* kDecodeName = "int8: decode_tokens";
  static constexpr const char* kEncodeName = "int8: encode_tokens";
  static uniform::Width width() { return {code_bytes, encode_token, decode_token}; }
};

}  // namespace int8

DeviceCodec int8_device_codec() {
  return uniform::WidthOnDevice<int8::CodeWidth>::codec("int8");
}

}  // namespace sluice
