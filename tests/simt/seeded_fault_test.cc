// The tests of CUDA codecs can fail: every barrier and every warp collective of every real kernel
// is put wrong once, and each time bytes, elements or the SIMT layer's own checks must tell.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "codec/registry.h"
#include "tests/codec/made_caches.h"
#include "tests/device/device_run.h"
#include "tests/device/kernel_order.h"
#include "tests/device/made_basis.h"
#include "tests/simt/machine.h"
#include "tests/test_name.h"

namespace sluice {
namespace {

using simt::Seed;

std::string to_text(const simt::Place& place) {
  const std::string file = place.at.file_name();
  return std::string(place.call) + " at " + file.substr(file.rfind('/') + 1) + ":" +
         std::to_string(place.at.line());
}

// What kernels are compared on: uneven tokens, several tiles and groups of channels, a few numbers
// far from their channel's others.
KvCache fault_cache() {
  const TensorShape first{.heads = 3, .tokens = 41, .dim = 32};
  KvCache cache =
      made_cache({.facts = {},
                  .layers = {layer_of(0, first), layer_of(1, {.heads = 1, .tokens = 9, .dim = 31}),
                             layer_of(2, {.heads = 5, .tokens = 12, .dim = 64})}});
  for (std::int64_t token = 0; token < first.tokens; ++token) {
    for (std::int64_t dim = 0; dim < first.dim; ++dim) {
      const bool is_far =
          dim == 7 || (dim == 3 && token == 40) || ((dim == 20 || dim == 21) && token == 5);
      const float value = is_far ? 40.0F + static_cast<float>(token) : 0.1F;
      cache.mutable_tensor(0, TensorKind::kKey).set(1, token, dim, value);
    }
  }
  return cache;
}

// Channels of many widths side by side: whether a group codes two rows per step hangs on a few.
KvCache uneven_cache() {
  KvShape shape{};
  for (int layer = 0; layer < 24; ++layer)
    shape.layers.push_back(layer_of(layer, {.heads = 1, .tokens = 50, .dim = 32}));
  KvCache cache = made_cache(shape, 5);
  for (std::size_t layer = 0; layer < shape.layers.size(); ++layer) {
    const MutableTensorView keys = cache.mutable_tensor(layer, TensorKind::kKey);
    for (std::int64_t token = 0; token < 50; ++token) {
      for (std::int64_t dim = 0; dim < 32; ++dim) {
        // One channel sets the scale of the tokens, four are narrow, the rest sweeps.
        const float width = dim == 31 ? 1.0F
                            : dim < 4 ? 0.01F
                                      : 0.01F * static_cast<float>(layer + 1);
        keys.set(0, token, dim, width * keys.view().at(0, token, dim));
      }
    }
  }
  return cache;
}

class SeededFault : public testing::TestWithParam<std::string> {
 protected:
  SeededFault() {
    for (KvCache (*make)() : {fault_cache, uneven_cache}) {
      Case made{.cache = make(), .profile = {}, .section = {}, .encoded = {}, .expected = {}};
      made.section = sections_of(made.cache.view(), cpu(), 0).front();
      const SectionTensor& first = made.section.tensors.front();
      made.profile = made_profile(BasisBlock::kLayer, first.values.shape, first.values.shape);
      made.section.context.model_profile = made.profile.get();
      made.encoded = *cpu().encode_section(made.section.context, made.section.tensors);
      made.expected = decode_on_cpu(cpu(), made.section, made.encoded.payload);
      cases_.push_back(std::move(made));
    }
  }
  ~SeededFault() override {
    simt::sow(Seed::kNone);
    use_kernel_order(0);
  }

  // Whether both directions give what the CPU gives, under every order of threads.
  bool all_is_well() {
    bool well = true;
    for (const Case& made : cases_) {
      for (int order = 0; order < num_kernel_orders() && well; ++order) {
        use_kernel_order(order);
        well = is_well(made);
      }
    }
    return well;
  }

  // all_is_well() in a process of its own, since a fault may well read and write anywhere, or never
  // end.
  bool is_noticed() {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      // What the sanitizers say of a sown fault is no news.
      if (freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
      _exit(all_is_well() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }

 private:
  struct Case {
    KvCache cache;
    ModelProfilePtr profile;  // of the first layer, for codecs that use one
    MadeSection section;
    EncodedSection encoded;
    Decoded expected;
  };

  static const Codec& cpu() { return **find_codec(GetParam()); }
  static bool is_well(const Case& made) {
    const DeviceCodec& codec = **find_device_codec(GetParam());
    const DeviceRunner runner(find_gpu()->target(2));
    DeviceSection tensors(made.section.tensors, DeviceLayout::kTokenMajor);
    if (!(runner.decode(codec, made.section, made.encoded.payload, tensors) == made.expected))
      return false;
    if (!codec.encodes()) return true;
    tensors.write(made.section.tensors, runner.stream());
    const auto encoded = runner.encode(codec, made.section, tensors);
    return encoded && encoded->payload == made.encoded.payload &&
           encoded->side_bytes == made.encoded.side_bytes;
  }

  std::vector<Case> cases_;
};

TEST_P(SeededFault, IsFoundInEveryCallThatThreadsWaitIn) {
  simt::sow(Seed::kNone);
  ASSERT_TRUE(all_is_well());
  for (const simt::SeenCall& call : simt::seen_calls()) {
    SCOPED_TRACE(to_text(call.place));
    simt::sow(call.is_barrier ? Seed::kSkippedWait : Seed::kWrongLane, call.place);
    EXPECT_TRUE(is_noticed());
  }
}

std::vector<std::string> device_codec_ids() {
  std::vector<std::string> ids;
  for (const DeviceCodec& codec : all_device_codecs()) ids.emplace_back(codec.id);
  return ids;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  return test_name(info.param);
}

INSTANTIATE_TEST_SUITE_P(Registry, SeededFault, testing::ValuesIn(device_codec_ids()), name_of);

}  // namespace
}  // namespace sluice
