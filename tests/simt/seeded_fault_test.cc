// The tests of CUDA codecs can fail: every barrier and every warp collective of every real kernel
// is put wrong once, and each time bytes, elements or the SIMT layer's own checks must tell.
#include <gtest/gtest.h>

#include "codec/registry.h"
#include "tests/codec/made_caches.h"
#include "tests/device/device_run.h"
#include "tests/device/kernel_order.h"
#include "tests/simt/machine.h"

namespace sluice {
namespace {

using simt::Seed;

std::string to_text(const simt::Place& place) {
  const std::string file = place.at.file_name();
  return std::string(place.call) + " at " + file.substr(file.rfind('/') + 1) + ":" +
         std::to_string(place.at.line());
}

// What kernels are compared on: two layers, uneven tokens, several tiles and groups of channels, a
// few numbers far from their channel's others.
KvCache fault_cache() {
  const TensorShape first{.heads = 3, .tokens = 41, .dim = 32};
  KvCache cache = made_cache(
      {.facts = {},
       .layers = {layer_of(0, first), layer_of(1, {.heads = 1, .tokens = 9, .dim = 31})}});
  for (std::int64_t token = 0; token < first.tokens; ++token) {
    for (std::int64_t dim = 0; dim < first.dim; ++dim) {
      const bool is_far = dim == 7 || (dim == 3 && token == 40) || (dim == 20 && token == 5);
      cache.mutable_tensor(0, TensorKind::kKey).set(1, token, dim, is_far ? 40.0F + static_cast<float>(token) : 0.1F);
    }
  }
  return cache;
}

class SeededFault : public testing::TestWithParam<std::string> {
 protected:
  SeededFault() : cache_(fault_cache()), section_(sections_of(cache_.view(), 0).front()) {
    const auto cpu = find_codec(GetParam());
    payload_ = (*cpu)->encode_section(section_.context, section_.tensors)->payload;
    expected_ = decode_on_cpu(**cpu, section_, payload_);
  }
  ~SeededFault() override {
    simt::sow(Seed::kNone);
    use_kernel_order(0);
  }

  // Whether both directions give what the CPU gives, under every order of threads.
  bool all_is_well() {
    const DeviceCodec& codec = **find_device_codec(GetParam());
    const DeviceRunner runner(find_gpu()->target(2));
    DeviceSection tensors(section_.tensors, DeviceLayout::kTokenMajor);
    bool well = true;
    for (int order = 0; order < num_kernel_orders() && well; ++order) {
      use_kernel_order(order);
      well = runner.decode(codec, section_, payload_, tensors) == expected_;
      tensors.write(section_.tensors, runner.stream());
      if (!well || !codec.can_encode()) continue;
      const auto encoded = runner.encode(codec, section_, tensors);
      well = encoded && encoded->payload == payload_;
    }
    (void)take_kernel_fault();
    return well;
  }

  KvCache cache_;
  MadeSection section_;
  Bytes payload_;
  Decoded expected_;
};

TEST_P(SeededFault, IsFoundInEveryCallThatThreadsWaitIn) {
  simt::sow(Seed::kNone);
  ASSERT_TRUE(all_is_well());
  for (const simt::SeenCall& call : simt::seen_calls()) {
    SCOPED_TRACE(to_text(call.place));
    simt::sow(call.is_barrier ? Seed::kSkippedWait : Seed::kWrongLane, call.place);
    EXPECT_FALSE(all_is_well());
  }
}

std::vector<std::string> device_codec_ids() {
  std::vector<std::string> ids;
  for (const DeviceCodec& codec : all_device_codecs()) ids.emplace_back(codec.id);
  return ids;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registry, SeededFault, testing::ValuesIn(device_codec_ids()), name_of);

}  // namespace
}  // namespace sluice
