// What every CUDA backend must hold to: the CPU's bytes, the CPU's elements, the CPU's refusals, at
// every level, on every odd cache, in every layout. A new device codec is picked up by itself.
// Where in the flow: compiled twice, against the host SIMT layer (everywhere) and against CUDA (on
// a machine with a GPU, tests/device/run.sh).
#include <gtest/gtest.h>

#include <optional>

#include "base/random.h"
#include "codec/registry.h"
#include "tests/codec/made_caches.h"
#include "tests/device/device_run.h"
#include "tests/device/kernel_order.h"
#include "tests/test_name.h"

namespace sluice {
namespace {

struct DeviceCase {
  const DeviceCodec* device;
  const Codec* cpu;
  std::size_t level;
};

std::vector<DeviceCase> all_cases() {
  std::vector<DeviceCase> cases;
  for (const DeviceCodec& device : all_device_codecs()) {
    const auto cpu = find_codec(device.id);
    for (std::size_t level = 0; level < (*cpu)->info.levels.size(); ++level)
      cases.push_back({&device, *cpu, level});
  }
  return cases;
}

std::vector<DeviceCase> all_encoders() {
  std::vector<DeviceCase> cases = all_cases();
  std::erase_if(cases, [](const DeviceCase& one) { return !one.device->encodes(); });
  return cases;
}

std::string name_of(const testing::TestParamInfo<DeviceCase>& info) {
  return test_name(info.param.cpu->info.id + "_" +
                   info.param.cpu->info.levels[info.param.level].name);
}

class EveryDeviceCodec : public testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override {
    const auto gpu = find_gpu();
    if (!gpu) GTEST_SKIP() << gpu.error().to_line();
    // Fewer multiprocessors than units: blocks take several.
    runner_.emplace(gpu->target(2));
  }
  void TearDown() override { use_kernel_order(0); }

  // check(section) for every kind of every odd cache; a failure names the cache.
  template <typename Check>
  void for_each_section(Check check) {
    for (const NamedCache& made : odd_caches()) {
      SCOPED_TRACE(made.name);
      for (const MadeSection& section : sections_of(made.cache.view(), cpu(), GetParam().level)) {
        check(section);
        if (HasFatalFailure()) return;
      }
    }
  }

  // check() under every order of threads.
  template <typename Check>
  static void for_each_order(Check check) {
    for (int order = 0; order < num_kernel_orders(); ++order) {
      SCOPED_TRACE("kernel order " + std::to_string(order));
      use_kernel_order(order);
      check();
      if (HasFatalFailure()) return;
    }
  }

  // Of a ladder's many levels the best, the default and the worst are decoded into every layout,
  // the others into one each: kernels differ by layout and by level, not by both.
  static bool is_full() {
    constexpr std::size_t kFewLevels = 6;
    const std::size_t levels = cpu().info.levels.size(), level = GetParam().level;
    return levels <= kFewLevels || level == 0 || level == cpu().info.default_level ||
           level + 1 == levels;
  }

  static const DeviceCodec& device() { return *GetParam().device; }
  static const Codec& cpu() { return *GetParam().cpu; }
  static EncodedSection encode_on_cpu(const MadeSection& section) {
    auto encoded = cpu().encode_section(section.context, section.tensors);
    EXPECT_TRUE(encoded) << encoded.error().to_line();
    return encoded ? std::move(*encoded) : EncodedSection{};
  }

  std::optional<DeviceRunner> runner_;
};

using EveryDeviceEncoder = EveryDeviceCodec;

TEST_P(EveryDeviceEncoder, EncodesToTheBytesOfTheCpu) {
  for_each_section([&](const MadeSection& section) {
    const EncodedSection expected = encode_on_cpu(section);
    for (const DeviceLayout layout : kDeviceLayouts) {
      SCOPED_TRACE(to_text(layout));
      DeviceSection tensors(section.tensors, layout);
      tensors.write(section.tensors, runner_->stream());
      for_each_order([&] {
        const auto encoded = runner_->encode(device(), section, tensors);
        ASSERT_TRUE(encoded) << encoded.error().to_line();
        ASSERT_EQ(encoded->payload, expected.payload);
        ASSERT_EQ(encoded->side_bytes, expected.side_bytes);
      });
    }
  });
}

TEST_P(EveryDeviceCodec, DecodesToTheElementsOfTheScalarOracle) {
  for_each_section([&](const MadeSection& section) {
    const Bytes payload = encode_on_cpu(section).payload;
    const Decoded expected = decode_on_cpu(cpu(), section, payload);
    ASSERT_EQ(expected.error, "");
    for (const DeviceLayout layout : kDeviceLayouts) {
      if (!is_full() && layout != kDeviceLayouts[GetParam().level % std::size(kDeviceLayouts)])
        continue;
      SCOPED_TRACE(to_text(layout));
      const DeviceSection tensors(section.tensors, layout);
      for_each_order([&] {
        const Decoded decoded = runner_->decode(device(), section, payload, tensors);
        ASSERT_EQ(decoded.error, "");
        ASSERT_TRUE(decoded == expected);
      });
    }
  });
}

TEST_P(EveryDeviceCodec, RefusesAPayloadThatIsTooShortOrTooLong) {
  for_each_section([&](const MadeSection& section) {
    Bytes payload = encode_on_cpu(section).payload;
    const DeviceSection tensors(section.tensors, DeviceLayout::kHeadMajor);
    for (const std::size_t bytes :
         {std::size_t{0}, payload.size() / 2, payload.size() - 1, payload.size() + 1}) {
      payload.resize(bytes);
      const Decoded expected = decode_on_cpu(cpu(), section, payload);
      ASSERT_NE(expected.error, "");
      ASSERT_EQ(runner_->decode(device(), section, payload, tensors).error, expected.error);
    }
  });
}

TEST_P(EveryDeviceCodec, JudgesRandomBytesAsTheCpuDoes) {
  RandomStream random(7);
  for_each_section([&](const MadeSection& section) {
    const Bytes payload = encode_on_cpu(section).payload;
    const DeviceSection tensors(section.tensors, DeviceLayout::kTokenMajor);
    for (int round = 0; round < 6; ++round) {
      Bytes changed = payload;
      for (std::byte& b : changed) {
        if (round == 0 || random.below(round < 4 ? changed.size() : 20) == 0)
          b = static_cast<std::byte>(random.below(256));
      }
      const Decoded expected = decode_on_cpu(cpu(), section, changed);
      const Decoded decoded = runner_->decode(device(), section, changed, tensors);
      ASSERT_EQ(decoded.error, expected.error);
      ASSERT_TRUE(decoded == expected);
    }
  });
}

TEST_P(EveryDeviceCodec, NamesMemoryThatIsTooSmall) {
  for_each_section([&](const MadeSection& section) {
    const DeviceSection tensors(section.tensors, DeviceLayout::kHeadMajor);
    const Bytes payload = encode_on_cpu(section).payload;
    const auto need = device().decode_memory(section.context, payload, tensors.tensors());
    ASSERT_TRUE(need);
    const LentBuffers lent = lend(*need);
    LentMemory small = lent.memory();
    small.work_dev = small.work_dev.first(need->work_bytes - 1);
    const auto plan = device().plan_decode(section.context, payload, tensors.tensors(), small, {});
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().what, "work memory of " + std::to_string(need->work_bytes - 1) +
                                     " bytes where " + std::to_string(need->work_bytes) +
                                     " are needed");
  });
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryDeviceCodec, testing::ValuesIn(all_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Registry, EveryDeviceEncoder, testing::ValuesIn(all_encoders()), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryDeviceEncoder);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryDeviceCodec);  // a build without CUDA has none

}  // namespace
}  // namespace sluice
