// int4 on a GPU: the kernels of codec/uniform at 4 bits, and their entry in the registry.
#include "codec/int4/cuda.h"
#include "codec/int4/kernel.h"
#include "codec/uniform/cuda_codec.h"

namespace sluice {
namespace int4 {

struct CodeWidth {
  static constexpr int kBits = 4;
  static constexpr float kCodeMax = 7.0F;
  static constexpr const char* kDecodeName = "int4: decode_tokens";
  static constexpr const char* kEncodeName = "int4: encode_tokens";
  static uniform::Width width() { return {code_bytes, encode_token, decode_token}; }
};

}  // namespace int4

DeviceCodec int4_device_codec() {
  return uniform::WidthOnDevice<int4::CodeWidth>::codec("int4");
}

}  // namespace sluice
